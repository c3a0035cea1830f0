"""The numbers that stand in the pages of spec/, and their links."""

import json
import math
import re
from fractions import Fraction
from itertools import product

import pytest

from hubbub.encoders.base import Encoder as Device
from hubbub.encoders.base import linkage
from hubbub.encoders.one_bit_mean import OneBitMean as Encoder
from hubbub.mechanisms import registry
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.olh_pool import OlhPool
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.privacy import exact_life
from tests.vectors.test_schemas import SPEC
from tests.vectors.write import VECTORS

PRICES = (SPEC / "prices.md").read_text("utf-8")


def test_links_lead_somewhere() -> None:
    pages = sorted(SPEC.rglob("*.md"))
    assert len(pages) >= 10
    for page in pages:
        text = page.read_text("utf-8")
        named = re.findall(r"\]\(([^)#]+)\)", text) + re.findall(r"(?<![\w/-])((?:mechanisms/)?[a-z_]+\.md)\b", text)
        for target in named:
            assert (page.parent / target).exists() or (SPEC / target).exists(), f"{page.name}: {target}"


def test_every_schema_and_every_set_of_vectors_is_on_the_first_page() -> None:
    first = (SPEC / "README.md").read_text("utf-8")
    assert all(
        f"({page.relative_to(SPEC).as_posix()})" in first for page in SPEC.rglob("*.md") if page.name != "README.md"
    )
    assert "(schemas/)" in first
    assert "(vectors/)" in first


def test_examples_of_the_first_page_are_those_of_the_vectors() -> None:
    first = re.sub(r"\s", "", (SPEC / "README.md").read_text("utf-8"))
    entries = json.loads((VECTORS / "prf.json").read_text("utf-8"))["entries"]
    examples = [entry["output"] for entry in entries if entry["note"].startswith("the example of the page")]
    assert len(examples) == 3
    assert all(example in first for example in examples)
    block = next(entry["output"][0] for entry in entries if entry["op"] == "prf")
    assert "".join(f"{word:08x}" for word in block) in first


def rows(heading: str) -> list[list[float]]:
    """The table below a text, as numbers."""
    below = PRICES[PRICES.index(heading) :]
    table = re.search(r"\n\n((?:\|.*\n)+)", below)
    assert table
    return [[float(cell) for cell in line.strip("| \n").split("|")] for line in table[1].splitlines()[2:]]


@pytest.mark.parametrize("row", rows("### Why `permanent_epsilon`"))
def test_table_of_the_default(row: list[float]) -> None:
    epsilon, twice_change, twice_life, change, life, fresh = row
    twice = RandomizedResponse.from_epsilon(epsilon, permanent_epsilon=2 * epsilon).encoder
    default = RandomizedResponse.from_epsilon(epsilon, permanent_epsilon=max(2 * epsilon, 1.2)).encoder
    assert twice.prices(365).change == pytest.approx(twice_change, abs=5.1e-4)
    assert default.prices(365).change == pytest.approx(change, abs=5.1e-4)
    assert exact_life(twice, 365) == pytest.approx(twice_life, abs=0.051)
    assert exact_life(default, 365) == pytest.approx(life, abs=0.051)
    assert 365 * epsilon == pytest.approx(fresh, abs=0.051)
    assert change < 2.03 * epsilon
    assert life < 1.013 * fresh
    assert exact_life(default, 365) <= default.prices(365).life < exact_life(default, 365) + 0.8


def test_figures_of_the_life_price() -> None:
    editor = OneBitMean.from_epsilon(1, permanent_epsilon=2, upper=480).encoder
    assert [round(editor.prices(t).life, 2) for t in (14, 365)] == [10.72, 257.76]
    assert [round(exact_life(editor, t), 2) for t in (14, 365)] == [10.38, 257.38]
    small = RandomizedResponse.from_epsilon(1, permanent_epsilon=1).encoder
    flipped = type(small)(small.low, round(0.2 * 2**32), 1)
    assert [round(exact_life(flipped, t), 3) for t in (1, 7)] == [0.569, 4.334]
    assert round(7 * exact_life(flipped, 1), 3) == 3.986
    many = OneBitMean.from_epsilon(0.1, permanent_epsilon=1.2, upper=480, bucket=1).encoder
    assert round(exact_life(many, 365), 1) == 46.1
    for figure in ("10.72", "10.38", "257.76", "257.38", "4.334", "3.986", "46.1"):
        assert figure in PRICES


@pytest.mark.parametrize(("epsilon", "percent"), [(0.5, 62.3), (1, 73.2), (2, 88.1), (5, 99.4)])
def test_odds(epsilon: float, percent: float) -> None:
    assert math.ceil(1000 / (1 + math.exp(-epsilon))) / 10 == percent
    assert f"{percent} %" in PRICES


def test_linkage_of_two_metrics_that_agree() -> None:
    c, chances = 0.2, {}
    for bits in product((0, 1), repeat=4):  # two reports of one window, two of the next
        chances[bits] = sum(math.prod(c if bit ^ hidden else 1 - c for bit in bits) / 2 for hidden in (0, 1))
    first = {pair: sum(p for bits, p in chances.items() if bits[:2] == pair) for pair in product((0, 1), repeat=2)}
    told = sum(p * math.log2(p / (first[bits[:2]] * first[bits[2:]])) for bits, p in chances.items())
    assert round(told, 3) == 0.230
    assert round(linkage(Fraction(1, 5)), 3) == 0.096
    assert "0.230 bits and not 2 · 0.096" in " ".join(PRICES.split())


def test_the_identity_of_three_prices() -> None:
    editor = Encoder(480, 480, 511972653, 3271021990, 844441824, 1).prices(1)
    product_of_two = math.tanh(editor.steady / 2) * math.tanh(editor.change / 2)
    assert math.tanh(editor.report / 2) == pytest.approx(product_of_two, rel=1e-10)


def test_what_more_answers_cost() -> None:
    below = PRICES[PRICES.index("### What more answers cost") :]
    table = re.search(r"\n\n((?:\|.*\n)+)", below)
    assert table
    head, _, changes, lives = ([cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines())
    for answers, change, life in zip(head[1:], changes[1:], lives[1:], strict=True):
        categories = int(answers.removeprefix("k = "))
        prices = Grr.from_epsilon(1, permanent_epsilon=2, categories=categories).encoder.prices(365)
        assert [f"{prices.change:.3f}", f"{prices.life:.1f}"] == [change, life]
        a, x = math.exp(2), math.e
        odds = (x * (a + categories - 2) - (categories - 1)) / (a - x)
        assert math.log(odds) == pytest.approx(prices.change, rel=1e-7)


def test_figures_of_permanent_choices() -> None:
    three = Grr.from_epsilon(1, permanent_epsilon=2, categories=3).encoder
    assert (f"{three.prices(30).life:.2f}", f"{exact_life(three, 30):.2f}") == ("31.30", "30.49")
    pair = OlhPool.from_epsilon(0.5, permanent_epsilon=1, categories=9, g=2).encoder
    exact = [round(exact_life(pair, reports), 3) for reports in (1, 4, 10)] + [round(exact_life(pair, 40), 2)]
    assert exact == [0.5, 2.034, 5.509, 23.21]
    flat = " ".join(PRICES.split())
    assert "T = 30: C = 31.30, exact 30.49" in flat
    assert "exact 0.5, 2.034, 5.509, 23.21" in flat


def test_figures_of_permanent_bits() -> None:
    def device(name: str, categories: int) -> Device:
        return registry[name].from_epsilon(1, permanent_epsilon=2, categories=categories).encoder

    below = PRICES[
        PRICES.index("### Life: the closed bound", PRICES.index("## Permanent bits, two for each position")) :
    ]
    table = re.search(r"\n\n((?:\|.*\n)+)", below)
    assert table
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines())
    categories = [int(cell.removeprefix("k = ")) for cell in head[1:]]
    assert [row[0] for row in rows] == ["oue", "sue"]
    for name, *lives in rows:
        assert [f"{device(name, k).prices(365).life:.1f}" for k in categories] == lives
    flat = " ".join(PRICES.split())
    for k, reports in ((3, 3), (5, 3), (5, 12)):
        oue = device("oue", k)
        figures = f"C = {oue.prices(reports).life:.2f}, exact {exact_life(oue, reports):.2f}"
        assert f"k = {k}, T = {reports}: {figures}" in flat
    for hashes, reports in ((1, 3), (1, 12), (2, 12)):
        words = registry["rappor"].from_epsilon(1, permanent_epsilon=2, hashes=hashes).encoder
        figures = f"C = {words.prices(reports).life:.2f}, exact {exact_life(words, reports):.2f}"
        assert f"hashes = {hashes}, T = {reports}: {figures}" in flat
    change = device("oue", 128).prices(1).change
    assert (round(change, 1), round(change / 2 * 128)) == (2.8, 180)
    assert "is 180 nats for one change, where two positions cost 2.8" in flat
    bits = [device("oue", k).linkage_bits for k in (128, 1024)]
    assert round((bits[1] - bits[0]) / 896, 4) == 0.0265
    assert "by 0.0265 bits for each category" in flat
