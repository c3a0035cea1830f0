"""Every page of every seed: nothing said, nobody else asked, nothing out of the window, all there and reachable."""

import re
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import seeds
from tests.e2e.browser.looking import NARROW, SCHEMES, WIDE, Look, Scheme
from tests.e2e.browser.seeds import SEEDS
from tests.e2e.browser.sites import Site

Open = Callable[[str], Site]
OTHERS: tuple[tuple[Scheme, int], ...] = (("dark", WIDE), ("dark", NARROW), ("light", NARROW))  # looks after the first
NONSENSE = re.compile(r"\b(?:nan|none|null|undefined|infinity|inf|\d\.?\d*e[+-]?\d+)\b", re.IGNORECASE)
OWN = re.compile(r"^none\b", re.MULTILINE)  # the first category of a choice, in lists and tables
DATE = re.compile(r"\d\d?[ \u202f][A-Z][a-z]{2}|\d{4}-\d\d-\d\d")


@pytest.fixture(scope="module")
def lenient(browser: Browser) -> Iterator[Look]:
    """A tab into which axe may be put."""
    with Look(browser, bypass_csp=True) as look:
        yield look


@pytest.mark.parametrize("name", SEEDS)
def test_pages_are_quiet_and_whole(site: Open, look: Look, name: str) -> None:
    found = {}
    for path in site(name).pages:
        page = look.open(site(name).url + path, scheme="light", width=WIDE)
        found[path] = list(missing(page))
        for scheme, width in OTHERS:
            found[f"{path} before {scheme}, {width}"] = look.faults()
            look.turn(scheme, width)
        found[f"{path} in every look"] = [*look.faults(), *missing(page)]
    assert found
    assert {path: faults for path, faults in found.items() if faults} == {}


@pytest.mark.slow
@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", SEEDS)
def test_pages_are_quiet_and_whole_in_every_look(site: Open, look: Look, name: str, scheme: Scheme, width: int) -> None:
    found = {}
    for path in site(name).pages:
        page = look.open(site(name).url + path, scheme=scheme, width=width)
        found[path] = [*look.faults(), *missing(page)]
    assert {path: faults for path, faults in found.items() if faults} == {}


def missing(page: Page) -> Iterator[str]:
    """What a page that has rows must show of them."""
    if page.locator("h1").count() != 1:
        yield "not one heading of the first order"
    rows = page.locator("#rows tbody tr").count()
    marks = page.locator("#chart .mark-symbol path, #chart .mark-rule line").count()
    text = OWN.sub("", page.locator("body").inner_text())
    if found := NONSENSE.findall(text):
        yield f"{found} in its text"
    if page.locator("#chart-spec").count():
        if not 0 < rows <= marks:
            yield f"{rows} rows, {marks} marks in the chart"
        labels = page.locator("#chart text").all_text_contents()
        dates = [label for label in labels if DATE.search(label)]
        if not dates or len(labels) - len(dates) < 2:
            yield f"axes without dates or numbers: {labels}"
    for part in ("denominator", "limits", "prices") if "/m/" in page.url else ():
        if not page.locator(f"#{part}").is_visible():
            yield f"no {part}"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("full", "/"),
        ("full", "/m/editor.minutes"),
        ("silent", "/"),
        ("states", "/m/state.mixed"),
        ("among", "/m/editor.review?category=among+active"),
        ("hostile", "/"),
    ],
)
def test_a_page_is_for_everybody(site: Open, lenient: Look, name: str, path: str) -> None:
    page = lenient.open(site(name).url + path, scheme="light", width=WIDE)
    assert violations(page) == []
    lenient.turn("dark", NARROW)
    assert violations(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", SEEDS)
def test_every_page_is_for_everybody(site: Open, lenient: Look, name: str, scheme: Scheme, width: int) -> None:
    found = {}
    for path in site(name).pages:
        found[path] = violations(lenient.open(site(name).url + path, scheme=scheme, width=width))
    assert {path: faults for path, faults in found.items() if faults} == {}


def violations(page: Page) -> list[str]:
    """What axe finds that is serious or worse."""
    return [
        f"{violation['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:3]
    ]


def test_axe_finds_what_is_wrong(lenient: Look) -> None:
    lenient.page.set_content(
        "<html lang=en><title>x</title><main><h1>x</h1><input><p style='color: #eee'>pale</p></main>"
    )
    assert {found.partition(":")[0] for found in violations(lenient.page)} == {"label", "color-contrast"}


@pytest.mark.parametrize("path", ["/", "/m/editor.minutes"])
def test_all_is_reached_by_keyboard_and_seen(site: Open, look: Look, path: str) -> None:
    page = look.open(site("full").url + path)
    wanted = page.locator("a[href], button, select, input, summary, [tabindex='0']").count()
    outlines = []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        outlines.append(
            page.evaluate("""() => {
            const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
            window.reached = window.reached || [];
            window.reached.push(e);
            return [e.tagName, style.outlineStyle !== 'none' && box.width > 0 && box.left >= 0];
        }""")
        )
    assert all(seen for _, seen in outlines), outlines
    in_order = """() => reached.every((e, i) => i === 0 ||
        reached[i - 1].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)"""
    assert page.evaluate(in_order), "not in the order of the page"
    page.keyboard.press("Tab")
    assert page.evaluate("reached.includes(document.activeElement) || document.activeElement === document.body")


@pytest.mark.parametrize(
    ("name", "text"), [("script", seeds.SCRIPT), ("quotes", seeds.QUOTES), ("tongues", seeds.TONGUES)]
)
def test_hostile_text_is_text(site: Open, look: Look, name: str, text: str) -> None:
    page = look.open(f"{site('hostile').url}/m/hostile.{name}")
    expect(page.locator(".description")).to_have_text(text, use_inner_text=True)
    expect(page.locator("#latest .value")).to_contain_text(text[:32].strip())
    assert page.locator("main script:not([type='application/json']), main img, main iframe").count() == 0
    assert look.faults() == []
    page = look.open(site("hostile").url + "/")
    expect(page.locator(f"[data-metric='hostile.{name}'] .description")).to_have_text(text, use_inner_text=True)


def test_what_is_searched_for_is_text(site: Open, look: Look) -> None:
    page = look.open(site("full").url + "/")
    page.get_by_label("Name contains").fill('"><script>alert(1)</script>')
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("h2")).to_contain_text('"><script>alert(1)</script>')
    assert look.faults() == []


def test_states_have_marks_of_their_own(site: Open, look: Look) -> None:
    page = look.open(site("states").url + "/m/state.mixed")
    legend = page.locator("#legend [data-mark]").evaluate_all("all => all.map(e => e.dataset.mark)")
    assert set(legend) == {"final", "provisional", "too_uncertain", "suppressed", "empty", "open"}
    drawings = page.locator("#legend .glyph path").evaluate_all("all => all.map(e => e.outerHTML)")
    assert len(set(drawings)) == len(drawings)
    zeros = look.open(site("states").url + "/m/state.zero")
    assert zeros.locator("#legend [data-mark='zero']").count() == 1


@pytest.mark.parametrize("path", ["/m/no.such", "/nowhere", "/m/editor.minutes?segment=nightly", "/?page=99"])
def test_what_cannot_be_answered_says_so(site: Open, plain: Look, path: str) -> None:
    page = plain.open(site("full").url + path, width=NARROW, status=400 if "?" in path else 404)
    expect(page.locator("h1")).to_be_visible()
    expect(page.get_by_role("link", name="All metrics")).to_have_attribute("href", "/")
