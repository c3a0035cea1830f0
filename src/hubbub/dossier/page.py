"""A Markdown text as one HTML page that loads nothing, fits small screens and prints well."""

import re
from html import escape

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8881; }
:root { --chinese: "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC"; }
body { font: 16px/1.55 system-ui, var(--chinese), sans-serif; }
body { max-width: 54rem; margin: 0 auto; padding: 2rem 1rem 4rem; overflow-wrap: break-word; }
:lang(zh) body { line-height: 1.75; line-break: strict; }
h1 { font-size: 1.9rem; line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h1, h2, h3 { overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
td { overflow-wrap: break-word; min-width: 4rem; } .whole { white-space: nowrap; }
thead:not(:has(th:not(:empty))) { display: none; }
code { font: .9em ui-monospace, Consolas, "DejaVu Sans Mono", var(--chinese), monospace; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; border-radius: .4rem; }
@media (max-width: 30rem) {
  h1 { font-size: 1.5rem; } h2 { margin-top: 2rem; } ul, ol { padding-left: 1.2rem; }
  table { font-size: .82rem; } th, td { padding: .3rem .25rem; min-width: 0; } td:first-child { min-width: 3.8rem; }
}
@media print {
  :root { color-scheme: light; } body { font-size: 10pt; line-height: 1.4; max-width: none; padding: 0; }
  :lang(zh) body { line-height: 1.6; }
  h1 { font-size: 18pt; margin: 0; } h2 { font-size: 13pt; margin: 14pt 0 6pt; } h3 { margin: 10pt 0 4pt; }
  p, ul, ol, pre, table { margin: 5pt 0; } pre { padding: 4pt; }
  th, td { padding: 2pt 5pt; } table { font-size: 9.5pt; } td + td { overflow-wrap: anywhere; min-width: 5.5rem; }
  h2, h3, p:has(> strong:only-child), p:has(+ .wide, + ul, + pre) { break-after: avoid; }
  tr, pre, li { break-inside: avoid; } .wide { overflow: visible; }
  @page { size: A4; margin: 16mm; }
}
"""
_WHOLE = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b|--[a-z]+")


def page(markdown: str, title: str, language: str = "en") -> str:
    """The text as HTML; raw HTML in it is shown and not taken.

    Args:
        markdown: CommonMark with tables.
        title: What the window is called.
        language: `en` or `zh`.
    """
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    body = body.replace(" %", "\N{NO-BREAK SPACE}%")
    body = _WHOLE.sub(r'<span class="whole">\g<0></span>', body)  # not broken at hyphens; attributes hold none of these
    lang = {"zh": "zh-CN"}.get(language, language)
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
