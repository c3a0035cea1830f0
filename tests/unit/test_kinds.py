"""Choices and histograms from metrics.toml to rows: labels, values, categories, refusals."""

import datetime
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hubbub import cli
from hubbub.cli import output
from hubbub.client import Client, MemoryState, Response
from hubbub.client.reporter import form
from hubbub.clock import FileClock, ManualClock
from hubbub.definitions import DefinitionErrors, build, loads
from hubbub.definitions.advice import review
from hubbub.errors import LockError, ParameterError
from hubbub.estimates import period, rows
from hubbub.lock import Lock, Metric, dump, parse
from hubbub.mechanisms import of_metric
from hubbub.store import Report, Store, WindowKey, open_store
from hubbub.store.catalogue import Definition
from hubbub.testing.words import GeneratorWords
from hubbub.wire import pack
from tests.unit.definitions_support import BOOLEAN, text

CHOICE = BOOLEAN | {"kind": '"choice"', "strategy": '"fresh"', "categories": '["home", "cart", "search"]'}
HISTOGRAM = BOOLEAN | {"kind": '"histogram"', "strategy": '"fresh"', "lower": "-5", "upper": "10", "buckets": "6"}
LATER = 4_000_000_000.0


def metric(table: dict[str, str], **changes: str) -> Metric:
    return build(loads(text(table | changes).encode(), "metrics.toml")).metrics["editor.minutes"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


def test_a_choice_is_locked_with_its_labels() -> None:
    made = metric(CHOICE)
    assert (made.labels, made.encoder.size, made.lower, made.step) == (("home", "cart", "search"), 4, 0, 1_000_000)
    assert parse(dump(Lock("editor-desktop", {made.name: made}))).metrics[made.name] == made


def test_a_histogram_is_locked_with_its_buckets() -> None:
    made = metric(HISTOGRAM)
    assert (made.labels, made.encoder.size, made.lower, made.step) == ((), 6, -5_000_000, 2_500_000)
    assert Definition(made).categories == ("-5 to -2.5", "-2.5 to 0", "0 to 2.5", "2.5 to 5", "5 to 7.5", "7.5 to 10")


def test_labels_are_part_of_the_encoding() -> None:
    assert metric(CHOICE).hash != metric(CHOICE, categories='["cart", "home", "search"]').hash


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (("home", "cart"), "must be 3"),
        (("home", "cart", "home"), "different"),
        (("home", "cart", "none"), "'none'"),
    ],
)
def test_a_lock_with_other_labels_is_refused(labels: tuple[str, ...], words: str) -> None:
    made = replace(metric(CHOICE), labels=labels)
    with pytest.raises(LockError, match=words):
        parse(dump(Lock("a", {made.name: made})))


@pytest.mark.parametrize(
    ("table", "changes", "words"),
    [
        (CHOICE, {"categories": '["a", "none"]'}, 'has "none"'),
        (CHOICE, {"categories": '["a", "a"]'}, 'has "a" twice'),
        (CHOICE, {"mechanism": '"one_bit_mean"'}, "is not a mechanism for the kind choice"),
        (CHOICE, {"max_bits": "1"}, "some mechanism fits within the limits"),
        (HISTOGRAM, {"upper": "-5"}, "is not above lower"),
        (HISTOGRAM, {"upper": "5.000003", "buckets": "7"}, "whose width has more than 6 decimals"),
    ],
)
def test_definitions_that_are_refused(table: dict[str, str], changes: dict[str, str], words: str) -> None:
    with pytest.raises(DefinitionErrors, match=words):
        metric(table, **changes)


@pytest.mark.parametrize("table", [CHOICE, HISTOGRAM])
@pytest.mark.parametrize("name", ["", '"grr"', '"olh_pool"'])
def test_devices_can_keep_permanent_answers(table: dict[str, str], name: str) -> None:
    """What a device that never changes gives away has a bound; one that moves may pay more than with fresh noise."""
    changes = {"strategy": '"memo"'} | ({"mechanism": name} if name else {})
    made = metric(table, **changes)
    assert made.encoder.memo == 1
    assert f'"{made.encoder.name}"' == name or not name
    prices, fresh = made.prices, metric(table).prices
    assert prices.report <= fresh.report * (1 + 1e-6)
    assert prices.steady <= 2 < fresh.steady
    assert prices.change > fresh.change
    assert prices.life < math.inf


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mechanism": '"grr"'}, r"permanent_epsilon = 2 \(the default\) is too close to epsilon = 1; write 3\.5$"),
        (
            {"mechanism": '"olh_pool"', "permanent_epsilon": "1.2"},
            r"= 1\.2 is too close to epsilon = 1; write 2 or leave it out$",
        ),
    ],
)
def test_lint_says_at_which_permanent_loss_a_change_is_cheap(changes: dict[str, str], words: str) -> None:
    """With one loss for ever and one for a report, more answers make changes dearer: the default is not for all."""
    many = "[" + ", ".join(f'"c{i}"' for i in range(60)) + "]"
    asked = CHOICE | {"strategy": '"memo"', "categories": many, "grace": '"7d"'} | changes
    (found,) = review(loads(text(asked).encode(), "metrics.toml"), datetime.date(2026, 12, 2))
    (warning,) = found.warnings
    assert re.search(words, warning)
    epsilon = re.search(r"write ([\d.]+\d)$|write (\d)", warning)
    assert epsilon
    better = metric(asked, permanent_epsilon=epsilon[1] or epsilon[2])
    assert better.prices.change <= 2.1


def test_a_limit_on_a_life_can_be_kept_by_permanent_answers_alone() -> None:
    """A choice is refused where no mechanism's whole life is cheap enough, and the message says by how much."""
    kept = {"strategy": '"memo"', "mechanism": '"grr"'}
    life = metric(CHOICE, **kept).prices.life
    assert metric(CHOICE, **kept, max_life=f"{life + 1:.3f}").encoder.name == "grr"
    with pytest.raises(DefinitionErrors, match=r"price of a life of \d+ reports"):
        metric(CHOICE, **kept, max_life=f"{life - 1:.3f}")


def test_a_limit_on_the_message_changes_the_mechanism() -> None:
    many = "[" + ", ".join(f'"c{i}"' for i in range(40)) + "]"
    free, short = metric(CHOICE, categories=many), metric(CHOICE, categories=many, max_bits="8")
    assert sum((radix - 1).bit_length() for radix in free.encoder.radices) > 8
    assert sum((radix - 1).bit_length() for radix in short.encoder.radices) <= 8


def test_what_a_choice_takes() -> None:
    read = form(metric(CHOICE)).read
    assert [read(value) for value in ("none", "home", "cart", "search")] == [0.0, 1.0, 2.0, 3.0]
    assert [read(value) for value in ("Home", "", 1, None, b"home", ["home"])] == [None] * 6


@pytest.mark.parametrize(
    ("value", "bucket"),
    [(-1e308, 0), (-5, 0), (-2.500001, 0), (-2.5, 1), (0, 2), (9.9999999, 5), (10, 5), (float("inf"), 5)],
)
def test_a_number_goes_to_its_bucket_on_device_and_in_bulk(value: float, bucket: int) -> None:
    made = metric(HISTOGRAM)
    assert form(made).index(value) == bucket
    if np.isfinite(value):
        assert of_metric(made).index([value]).tolist() == [bucket]


class Post:
    """Takes every report and keeps its body."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def post(self, body: bytes, timeout: float) -> Response:
        self.bodies.append(body)
        return Response(200, b'{"accepted": 1, "results": []}')


@pytest.mark.parametrize(("table", "values"), [(CHOICE, ("home", "cart")), (HISTOGRAM, (3, 4.5))])
def test_a_device_reports_it(table: dict[str, str], values: tuple[object, object]) -> None:
    made, post = metric(table), Post()
    clock = ManualClock(made.windows.start(made.life.start) - 43_200)
    client = Client(
        Lock("editor-desktop", {made.name: made}),
        "http://127.0.0.1:1",
        policy="research",
        state=MemoryState(),
        clock=clock,
        transport=post,
        background=False,
    )
    clock.set(made.windows.start(made.life.start) + 10)
    for value in values:
        client.add(made.name, value)
    client.add(made.name, object())
    clock.set(made.windows.end(made.life.start))
    assert client.flush()
    assert client.counters == {"accepted": 1, "invalid_value": 1}
    assert len(post.bodies) == 1


def fill(store: Store, made: Metric, crowd: list[int]) -> None:
    """One window's reports of devices with these values."""
    store.accept(Lock("editor-desktop", {made.name: made}))
    sent = of_metric(made).randomise(np.array(crowd), GeneratorWords(np.random.default_rng(5)))
    key = WindowKey(made.name, made.hash[:32], made.life.start)
    payloads = [pack(tuple(map(int, report)), made.encoder.radices) for report in sent.tolist()]
    store.write([Report(key, number, "", payload) for number, payload in enumerate(payloads)])


def test_a_row_for_each_category(store: Store) -> None:
    made = metric(CHOICE)
    fill(store, made, [0] * 500 + [1] * 1500 + [2] * 1000)
    found = rows(store, now=made.windows.end(made.life.start) + made.grace, start=None, end=None)
    first = [row for row in found if row.window_start == "2026-12-01T00:00:00Z"]
    assert [row.category for row in first] == ["none", "home", "cart", "search"]
    assert {(row.state, row.n) for row in first} == {("final", 3000)}
    for row, truth in zip(first, (1 / 6, 1 / 2, 1 / 3, 0), strict=True):
        assert row.value is not None
        assert row.se is not None
        assert abs(row.value - truth) < 4.5 * row.se  # false alarm 3e-5 in all
        assert row.tidied == min(max(row.value, 0.0), 1.0)
    alone = period(store, now=LATER, metric=made.name, end=made.windows.end(made.life.start), category="home")
    assert (alone.value, alone.ci_low, alone.ci_high) == (first[1].value, first[1].ci_low, first[1].ci_high)


def test_the_shell_names_each_bucket_by_its_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As `preview` and the dossier do, also where buckets begin at 0 in steps of 1 and are plain numbers."""
    made = metric(HISTOGRAM, lower="0", upper="3", buckets="3", unit='"s"')
    with open_store(tmp_path / "shell.db") as filled:
        fill(filled, made, [0] * 200 + [2] * 300)
    FileClock(tmp_path / "clock").set(made.windows.end(made.life.start) + made.grace)
    output.console.cache_clear()
    asked = ["--clock", str(tmp_path / "clock"), "--end", "2026-12-02", "--mean"]
    with pytest.raises(SystemExit) as ended:
        cli.main(["estimate", str(tmp_path / "shell.db"), *asked])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    for bucket in ("0 to 1 s", "1 to 2 s", "2 to 3 s"):
        assert out.count(bucket) == 2
        assert f"Mean of {bucket} over" in out


def test_a_mean_over_windows_names_its_category(store: Store) -> None:
    made = metric(CHOICE)
    fill(store, made, [1] * 400)
    for wrong in (None, "nowhere"):
        with pytest.raises(ParameterError, match="category must be one of none, home, cart, search"):
            period(store, now=LATER, metric=made.name, category=wrong)


def test_few_reports_withhold_every_category(store: Store) -> None:
    made = metric(CHOICE)
    fill(store, made, [1] * 20)
    found = rows(store, now=made.windows.end(made.life.start) + made.grace)
    first = [row for row in found if row.window_start == "2026-12-01T00:00:00Z"]
    assert {(row.category, row.state, row.value) for row in first} == {
        (name, "suppressed", None) for name in ("none", "home", "cart", "search")
    }


def test_a_payload_that_no_device_sends_is_refused() -> None:
    from hubbub.errors import PayloadError
    from hubbub.mechanisms import registry

    made = replace(metric(CHOICE), encoder=registry["subset_selection"].from_epsilon(1.0, categories=4).encoder)
    assert made.encoder.radices == (2, 2, 2, 2)
    with pytest.raises(PayloadError, match="no device can have sent"):
        Definition(made).decode(pack((1, 1, 1, 1), made.encoder.radices))
