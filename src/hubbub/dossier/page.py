"""A Markdown text as one HTML page that loads nothing, fits small screens and prints well."""

from html import escape

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8881; }
body { font: 16px/1.55 system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif; }
body { max-width: 54rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h1, h2, h3 { overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
td { overflow-wrap: break-word; min-width: 4rem; }
thead:not(:has(th:not(:empty))) { display: none; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; border-radius: .4rem; }
@media print {
  :root { color-scheme: light; } body { font-size: 10.5pt; max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; } tr, pre { break-inside: avoid; } .wide { overflow: visible; }
  @page { margin: 18mm 16mm; }
}
"""


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
    lang = {"zh": "zh-CN"}.get(language, language)
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
