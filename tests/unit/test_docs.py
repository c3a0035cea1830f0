"""What people read first: tables that a script computes, two READMEs in step, links that lead somewhere."""

import re
from pathlib import Path

import pytest

from docs.scripts import worth

ROOT = Path(__file__).parents[2]
READMES = {"en": ROOT / "README.md", "zh": ROOT / "README.zh-CN.md"}
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*.md"),
        *(ROOT / "tests").glob("*.md"),
    ]
)
LINK = re.compile(r"""\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)\"""")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("language", sorted(READMES))
def test_the_table_is_what_the_script_prints(language: str) -> None:
    assert sorted(READMES) == sorted(worth.TEXT)
    table = worth.table(language)
    assert table in READMES[language].read_text("utf-8"), f"python docs/scripts/worth.py {language}\n{table}"


def test_worth_against_figures_of_another_hand() -> None:
    """Half-widths that were computed before anything was built, to the digits that were written down."""
    minutes = [worth.mean(n, 210, 720) for n in worth.DEVICES]
    assert [round(value, 1) for value in minutes] == pytest.approx([56.6, 23.7, 6.7, 1.1], abs=0.051)
    yes = [100 * worth.yes_no(n, 0.2) for n in worth.DEVICES]
    assert [round(value, 2) for value in yes] == pytest.approx([7.7, 3.2, 0.9, 0.14], abs=0.051)
    assert 100 * worth.category(20)(2_000_000) == pytest.approx(0.25, abs=0.005)
    assert 100 * worth.category(100)(50_000) == pytest.approx(1.7, abs=0.05)
    assert [100 * worth.floor(n) for n in worth.DEVICES] == pytest.approx([35, 15, 4.2, 0.66], rel=0.06)


@pytest.mark.parametrize(
    ("number", "text"), [(8.0, "8.0"), (0.9484, "0.95"), (9.96, "10"), (37.9, "38"), (0.0999, "0.10")]
)
def test_two_digits(number: float, text: str) -> None:
    assert worth.figures(number) == text


def test_readmes_are_in_step() -> None:
    """The same code but for its comments, the same links, as many headings, table rows and points."""
    english, chinese = (READMES[language].read_text("utf-8") for language in ("en", "zh"))
    assert commands(english) == commands(chinese)
    assert [link for link in links(english) if "README" not in link] == [
        link for link in links(chinese) if "README" not in link
    ]
    for beginning in ("#", "|", "- **"):
        counts = [sum(line.startswith(beginning) for line in text.splitlines()) for text in (english, chinese)]
        assert counts[0] == counts[1] > 0, beginning


def commands(page: str) -> list[str]:
    lines = [line for _, block in FENCE.findall(page) for line in block.splitlines()]
    assert lines
    return [re.split(r"\s+# ", line)[0].replace("本仓库路径", "PATH/TO/THIS/CHECKOUT") for line in lines]


def links(page: str) -> list[str]:
    return sorted(one or other for one, other in LINK.findall(FENCE.sub("", page)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    inside = [link.partition("#")[0] for link in links(page.read_text("utf-8")) if not re.match(r"[a-z]+:|#", link)]
    assert [link for link in inside if not (page.parent / link).exists()] == []


def test_there_are_links() -> None:
    assert sum(len(links(page.read_text("utf-8"))) for page in PAGES) > 50
