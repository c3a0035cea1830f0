"""`hubbub.open`: the same from a store file and from a read listener, and what it says of things that are neither."""

import datetime
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hubbub
from hubbub.answers import AnswersError, Source, Span, source, span
from hubbub.answers.frames import Answers
from hubbub.clock import ManualClock
from hubbub.errors import HubbubError, ParameterError
from hubbub.estimates import Row, rows
from hubbub.estimates.tables import frame_of
from hubbub.store import StoreError, open_store
from tests.unit.collecting import DAY, FIRST, GRACE, end
from tests.unit.reading import answering, fill, listening, unused_port

NOW = end(FIRST + 6) + GRACE  # the last two days may still change
JSON = {"content-type": "application/json"}
PROBLEM = {"content-type": "application/problem+json"}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("answers") / "store.db")


@pytest.fixture(scope="module")
def both(path: Path) -> Iterator[tuple[Source, Source]]:
    """The same store as a file and as a listener."""
    clock = ManualClock(NOW)
    with listening(path, clock) as url, source(path, clock=clock) as file, source(url) as listener:
        yield file, listener


@pytest.fixture
def answers(path: Path) -> Iterator[Answers]:
    with hubbub.open(path, clock=ManualClock(NOW)) as opened:
        yield opened


metrics_ = st.sampled_from([None, "editor.minutes", "flight.late", "no.such", "a/b?c#d"])
segments_ = st.sampled_from([None, None, "", "stable", "beta", "gamma", "a&b"])
moments = st.none() | st.floats(FIRST - 2, FIRST + 25).map(lambda day: day * DAY)
spans = st.builds(Span, moments, moments).filter(lambda s: s.start is None or s.end is None or s.start < s.end)
levels = st.sampled_from([0.95, 0.5, 0.999, 0, 1, -0.2, float("nan")])


def outcome(ask: Any, *asked: Any) -> Any:
    try:
        return ask(*asked)
    except ParameterError as error:
        return type(error), error.name, error.expected


@given(metrics_, spans, segments_, levels)
def test_rows_of_a_file_are_those_of_the_listener(
    both: tuple[Source, Source], metric: str | None, within: Any, segment: str | None, level: float
) -> None:
    file, listener = both
    assert outcome(file.rows, metric, within, segment, level) == outcome(listener.rows, metric, within, segment, level)


@given(metrics_.filter(bool), spans, segments_, st.sampled_from([None, None, 1, 2, 7]), levels)
def test_means_of_a_file_are_those_of_the_listener(
    both: tuple[Source, Source], metric: str, within: Any, segment: str | None, version: int | None, level: float
) -> None:
    file, listener = both
    asked = metric, within, segment, version, level
    assert outcome(file.period, *asked) == outcome(listener.period, *asked)


def test_the_comparison_sees_something(both: tuple[Source, Source]) -> None:
    for one in both:
        assert len(one.rows(None, span(None, None), None, 0.95)) > 50
        assert one.period("flight.late", span("2026-12-01", "2026-12-05"), None, None, 0.95).state == "final"
        with pytest.raises(
            ParameterError, match=r"metric must be one of editor\.minutes, flight\.late; got 'no\.such'"
        ):
            one.rows("no.such", span(None, None), None, 0.95)


def test_metrics_of_a_file_are_those_of_the_listener(both: tuple[Source, Source]) -> None:
    file, listener = (Answers(one).metrics() for one in both)
    pd.testing.assert_frame_equal(file, listener)
    assert file[["name", "version", "kind", "price_report"]].values.tolist() == [
        ["editor.minutes", 2, "mean", 2.0],
        ["editor.minutes", 1, "mean", 1.0],
        ["flight.late", 1, "boolean", 1.0],
    ]


def test_frames_are_the_same(both: tuple[Source, Source]) -> None:
    file, listener = (Answers(one).estimates(start="2026-12-02", level=0.9) for one in both)
    assert len(file) > 50
    pd.testing.assert_frame_equal(file, listener)


def test_a_frame_holds_the_rows(path: Path, answers: Answers) -> None:
    frame = answers.estimates("editor.minutes", segment="beta", start="2026-12-01", end="2026-12-08")
    with open_store(path, read_only=True) as store:
        expected = rows(store, now=NOW, metric="editor.minutes", segment="beta", end=(FIRST + 7) * DAY)
    assert list(frame.columns) == list(Row.__struct_fields__)
    assert len(frame) == len(expected)
    for (_, got), row in zip(frame.iterrows(), expected, strict=True):
        for name, value in msgspec.structs.asdict(row).items():
            if name.startswith("window_"):
                assert got[name].isoformat() == value.replace("Z", "+00:00")
            elif value is None:
                assert pd.isna(got[name])
            else:
                assert got[name] == value
    assert frame.state.tolist().count("suppressed") == 1
    assert frame[frame.state == "final"].value.notna().all()


def test_types_are_the_same_whatever_a_frame_holds(answers: Answers) -> None:
    full = answers.estimates("flight.late")
    nothing = answers.estimates("flight.late", start="2020-01-01", end="2020-02-01")
    assert len(nothing) == 0
    assert len(full) > 5
    assert full.dtypes.to_dict() == nothing.dtypes.to_dict()
    kinds = full.dtypes.astype(str).to_dict()
    assert kinds["window_start"] == kinds["window_end"] == "datetime64[us, UTC]"
    assert {kinds[name] for name in ("n", "n_effective", "version")} == {"int64"}
    assert {kinds[name] for name in ("value", "se", "se_shared", "ci_low", "permanent_epsilon")} == {"float64"}
    assert {kinds[name] for name in ("metric", "segment", "category", "state", "method")} == {"string"}


def test_a_store_without_reports(tmp_path: Path) -> None:
    open_store(tmp_path / "new.db").close()
    with hubbub.open(tmp_path / "new.db") as opened:
        assert len(opened.estimates()) == 0
        assert len(opened.metrics()) == 0
        with pytest.raises(ParameterError, match="metric must be in the store; got 'editor"):
            opened.mean("editor.minutes")


@pytest.mark.parametrize(
    ("start", "end_"),
    [
        ("2026-12-02", "2026-12-04"),
        (datetime.date(2026, 12, 2), datetime.date(2026, 12, 4)),
        (datetime.datetime(2026, 12, 2, tzinfo=datetime.UTC), "2026-12-04T00:00:00Z"),
        (pd.Timestamp("2026-12-02"), pd.Timestamp("2026-12-04", tz="UTC")),
    ],
)
def test_a_span_is_half_open(answers: Answers, start: Any, end_: Any) -> None:
    frame = answers.estimates("flight.late", start=start, end=end_)
    assert frame.window_start.dt.day.tolist() == [2, 3]
    assert answers.mean("flight.late", start=start, end=end_).windows == 2


@pytest.mark.parametrize("last", ["2026-12-02", "2026-12-01"])
def test_a_span_that_holds_nothing_is_refused(answers: Answers, last: str) -> None:
    with pytest.raises(ParameterError, match=f"start must be before the end, {last}; got '2026-12-02'"):
        answers.estimates(start="2026-12-02", end=last)


def test_differences(answers: Answers) -> None:
    a, b = (answers.mean("flight.late", start=f"2026-12-0{day}", end=f"2026-12-0{day + 3}") for day in (5, 1))
    found = answers.difference(a, b)
    assert found.ci_low < found.value == a.value - b.value < found.ci_high  # type: ignore[operator]


def test_rows_make_a_frame_by_themselves() -> None:
    assert len(frame_of([])) == 0


# What is neither a store nor a listener


@pytest.mark.parametrize(
    "address",
    ["http://", "ftp://127.0.0.1/x", "postgresql://localhost/x", "http://127.0.0.1:0", "http://127.0.0.1:99999",
     "http://user:pass@127.0.0.1", "http://127.0.0.1/?x=1", "http://127.0.0.1/#x", "http://127.0.0.1/a b", "http://[::1"],
)  # fmt: skip
def test_no_address(address: str) -> None:
    with pytest.raises(ParameterError, match="address must be a store file, or the address of a read listener"):
        hubbub.open(address)


@pytest.mark.parametrize("address", ["http://example.org:8378", "http://192.0.2.1", "http://127.0.0.1.example.org"])
def test_plain_http_stays_on_the_machine(address: str) -> None:
    with pytest.raises(
        ParameterError, match="address must be an https address where the listener is on another machine"
    ):
        hubbub.open(address)


def test_https_may_go_anywhere() -> None:
    hubbub.open("https://telemetry.example.org/hubbub").close()


def test_files_that_are_no_store(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("hello " * 1000)
    for path, message in ((text, "not a hubbub store"), (tmp_path / "none.db", "cannot be read"), (tmp_path, "cannot")):
        with pytest.raises(StoreError, match=message):
            hubbub.open(path)
    assert not (tmp_path / "none.db").exists()


def test_a_closed_port() -> None:
    with (
        hubbub.open(f"http://127.0.0.1:{unused_port()}") as opened,
        pytest.raises(AnswersError, match=r"no answer .*refused"),
    ):
        opened.estimates()


@pytest.mark.parametrize(
    ("status", "content", "headers"),
    [
        (200, b"<html>It works</html>", {"content-type": "text/html"}),
        (200, b"[]", {"content-type": "text/plain"}),
        (200, b'{"metrics": []}', JSON),
        (200, b'[{"name": "a"}]', JSON),
        (200, b"[", JSON),
        (200, b'["\xff"]', JSON),
        (404, b"not found", {"content-type": "text/plain"}),
        (404, b'{"type": "urn:hubbub:problem:not_found", "title": "Not Found", "status": 404}', PROBLEM),
        (302, b"", {"location": "http://127.0.0.1:1/"}),
        (500, b"oops", PROBLEM),
    ],
)
def test_servers_that_are_no_listener(status: int, content: bytes, headers: dict[str, str]) -> None:
    with (
        answering(status, content, headers) as url,
        hubbub.open(url) as opened,
        pytest.raises(AnswersError, match=rf"answers \(status {status}\), but not as the read listener"),
    ):
        opened.estimates()


def test_a_listener_that_cannot_answer_says_why() -> None:
    problem = b'{"type": "urn:hubbub:problem:unavailable", "title": "the store cannot be read", "status": 503}'
    with (
        answering(503, problem, PROBLEM) as url,
        hubbub.open(url) as opened,
        pytest.raises(AnswersError, match="the store cannot be read"),
    ):
        opened.mean("a")


def test_every_error_is_one_of_hubbub_s() -> None:
    assert issubclass(AnswersError, HubbubError)


def test_a_listener_that_hung_up_is_asked_again(path: Path) -> None:
    clock = ManualClock(NOW)
    with listening(path, clock) as url:
        opened = hubbub.open(url)
        before = opened.estimates("flight.late")
    port = int(url.rpartition(":")[2])
    with pytest.raises(AnswersError, match="no answer"):
        opened.estimates("flight.late")
    assert port
    opened.close()
    assert len(before)


def test_only_the_device_s_half_installed() -> None:
    probe = "import sys; sys.path.insert(0, sys.argv[1]); import hubbub; hubbub.open('x.db')"
    source_ = str(Path(hubbub.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-c", probe, source_]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: hubbub.open needs more packages: pip install 'hubbub[analysis]'"
    )
