"""`hubbub report`: one value from the shell, day after day, and what it says of each."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hubbub import cli
from hubbub.clock import FileClock
from hubbub.collector import create_app
from hubbub.lock import dump
from hubbub.store import Store, open_store
from tests.unit.collecting import DAY, FIRST, late, lock, minutes
from tests.unit.reading import running, unused_port

Report = Callable[..., tuple[int, str, str]]
METRIC = late(epsilon=0.5)
NOON = 43_200


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


@pytest.fixture
def endpoint(tmp_path: Path, store: Store) -> Iterator[str]:
    FileClock(tmp_path / "clock").set(FIRST * DAY + NOON)
    with running(create_app(store, [lock(METRIC)], clock=FileClock(tmp_path / "clock"))) as url:
        yield url


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Runs `hubbub report METRIC VALUE ...` on a day; exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    Path("metrics.lock").write_text(dump(lock(METRIC)), "utf-8")

    def run(day: float, value: str, *words: str, metric: str = METRIC.name, url: str = "") -> tuple[int, str, str]:
        FileClock("clock").set(FIRST * DAY + NOON + day * DAY)
        given = ["--lock", "metrics.lock", "--endpoint", url, "--state", "device", "--clock", "clock"]
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main(["report", *given, "--life", "unlimited", *words, metric, "--", value])
        assert isinstance(ended.value.code, int)
        return ended.value.code, *capsys.readouterr()

    return run


def day(number: int) -> str:
    return f"2026-12-{number + 1:02}T00:00:00Z"


def test_a_job_that_runs_once_a_day(report: Report, store: Store, endpoint: str) -> None:
    code, out, err = report(0, "yes", url=endpoint)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"Not recorded: the window from {day(0)} to {day(1)} began before this installation, or is sealed.",
        f"The first window that it reports begins at {day(1)}.",
        "No earlier report was due.",
    ]
    assert report(1, "yes", url=endpoint)[1].splitlines() == [
        f"Recorded a value of flight.late for the window from {day(1)} to {day(2)}.",
        f"Its report leaves with the first run after {day(2)}.",
        "No earlier report was due.",
    ]
    assert store.windows() == []
    for number in (2, 3):
        assert report(number, "no", url=endpoint)[1].splitlines()[1:] == [
            f"Its report leaves with the first run after {day(number + 1)}.",
            "Sent of earlier windows: 1 accepted.",
        ]
    assert [key.window for key in store.windows()] == [FIRST + 1, FIRST + 2]
    assert store.counters() == {"accepted": 2}


def test_several_runs_a_day_are_one_report(report: Report, store: Store, endpoint: str) -> None:
    report(0, "no", url=endpoint)
    for hour in range(4):
        report(1 + hour / 24, "yes" if hour == 0 else "no", "--add", url=endpoint)
    report(2, "no", url=endpoint)
    assert store.counters() == {"accepted": 1}


def test_reports_wait_for_a_collector(report: Report, store: Store, endpoint: str) -> None:
    nobody = f"http://127.0.0.1:{unused_port()}"
    for number, waiting in ((0, ""), (1, ""), (2, "1 report waits"), (3, "2 reports wait")):
        code, out, err = report(number, "yes", url=nobody)
        assert (code, err) == (0, "")
        if waiting:
            assert out.splitlines()[-1] == f"{waiting} for the next run: the collector was not reached."
    assert report(4, "yes", url=endpoint)[1].splitlines()[-1] == "Sent of earlier windows: 3 accepted."
    assert store.counters() == {"accepted": 3}


def test_json(report: Report, endpoint: str) -> None:
    def told(number: int, value: str, *words: str) -> Any:
        code, out, err = report(number, value, "--json", *words, url=endpoint)
        assert (code, err) == (0, "")
        return json.loads(out)

    first = told(0, "true")
    assert (first["recorded"], first["reason"], first["first_window"]) == (False, "first_window", day(1))
    told(1, "1")
    assert told(2, "0") == {
        "metric": "flight.late",
        "window_start": day(2),
        "window_end": day(3),
        "recorded": True,
        "reason": None,
        "leaves_after": day(3),
        "first_window": None,
        "report_every": 1,
        "answers": {"accepted": 1},
        "waiting": 0,
    }
    assert told(400, "yes")["reason"] == "outside_life"


def test_what_is_told_beside(report: Report, endpoint: str) -> None:
    panel = late(epsilon=0.5, report_every=7)
    Path("metrics.lock").write_text(dump(lock(panel, minutes(epsilon=0.4))), "utf-8")
    assert report(0, "yes", "--dimension", "channel=beta", url=endpoint)[0] == 0
    _, out, _ = report(1, "yes", "--dimension", "channel=beta", url=endpoint)
    assert "where it is this installation's turn: in one of 7 windows." in out
    assert "The lock's other metrics (editor.minutes) are reported too: what was recorded, or nothing." in out
    _, out, _ = report(1, "yes", "--dimension", "channel=beta", "--json", url=endpoint)
    assert json.loads(out)["report_every"] == 7


def test_consent_that_is_denied(report: Report, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from hubbub.client import Client

    with_lock = {"state_dir": "device", "life": "unlimited", "clock": FileClock("clock"), "background": False}
    FileClock("clock").set(FIRST * DAY)
    client = Client("metrics.lock", endpoint, **with_lock)  # type: ignore[arg-type]
    client.consent("denied")
    client.close()
    assert "Not recorded: consent is denied in this folder." in report(1, "yes", url=endpoint)[1]
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    assert report(2, "yes", "--state", "other", url=endpoint) == (
        2,
        "",
        "hubbub: DO_NOT_TRACK is set, so nothing is recorded or sent\n",
    )
    assert not Path("other").exists()


def test_jobs_of_continuous_integration(report: Report, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    message = "hubbub: CI is set, so nothing is recorded or sent; --in-ci does it all the same\n"
    assert report(0, "yes", url=endpoint) == (2, "", message)
    assert not Path("device").exists()
    assert report(0, "yes", "--in-ci", url=endpoint)[0] == 0
    assert report(1, "yes", "--in-ci", url=endpoint)[1].startswith("Recorded a value of flight.late")


@pytest.mark.parametrize(("variable", "remedy"), [("DO_NOT_TRACK", ""), ("CI", "; --in-ci does it all the same")])
def test_what_waits_is_wiped_where_nothing_may_be_sent(
    report: Report, store: Store, endpoint: str, monkeypatch: pytest.MonkeyPatch, variable: str, remedy: str
) -> None:
    nowhere = f"http://127.0.0.1:{unused_port()}"
    report(0, "yes", url=nowhere)
    report(1, "yes", url=nowhere)
    assert "1 report waits for the next run" in report(2, "yes", url=nowhere)[1]
    monkeypatch.setenv(variable, "1")
    message = f"hubbub: {variable} is set, so nothing is recorded or sent, and 1 report that waited is wiped{remedy}\n"
    assert report(2.1, "yes", url=endpoint) == (2, "", message)
    monkeypatch.delenv(variable)
    assert "No earlier report was due." in report(2.2, "yes", url=endpoint)[1]


@pytest.mark.parametrize("value", ["maybe7731", "7731", "nan", "-7731", ""])
def test_a_value_that_is_none_is_not_repeated(report: Report, value: str) -> None:
    code, out, err = report(0, value, url="http://127.0.0.1:1")
    assert (code, out) == (2, "")
    assert err == "hubbub: VALUE must be yes or no, for flight.late is a boolean\n"


@pytest.mark.parametrize("value", ["yes", "inf", "x7731", ""])
def test_a_number_that_is_none(report: Report, value: str) -> None:
    Path("metrics.lock").write_text(dump(lock(minutes(epsilon=0.4))), "utf-8")
    code, _, err = report(0, value, metric="editor.minutes", url="http://127.0.0.1:1")
    assert (code, err) == (2, "hubbub: VALUE must be a finite number, for editor.minutes is a mean\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policy", "lax"], "policy must be one of strict, standard, research, or a Policy; got 'lax'"),
        (["--life", "some"], "life must be a number of nats above 0"),
        (["--life", "3"], "policy standard: any two histories of 2026"),
        (["--dimension", "channel"], "--dimension must be NAME=VALUE; got 'channel'"),
        (["--endpoint", "ftp://x"], "endpoint must be an address"),
        (["--lock", "none.lock"], "1 problem in none.lock"),
        (["--timeout", "-1"], "invalid value for '--timeout'"),
    ],
)
def test_bad_input(report: Report, words: list[str], message: str) -> None:
    code, out, err = report(0, "yes", *words, url="http://127.0.0.1:1")
    assert (code, out) == (2, "")
    assert err.startswith(f"hubbub: {message}"), err
    assert not Path("device").exists()


def test_limits_are_named_as_they_are_typed(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = report(0, "yes", "--life", "3", url="http://127.0.0.1:1")
    assert "write a larger --life" in err
    given = ["--lock", "metrics.lock", "--endpoint", "http://127.0.0.1:1", "--state", "device"]
    with pytest.raises(SystemExit):
        cli.main(["report", *given, METRIC.name, "yes"])
    err = capsys.readouterr().err
    assert "; write --life with a number of nats a year" in err
    assert "life=" not in err


def test_an_unknown_metric(report: Report) -> None:
    code, _, err = report(0, "yes", metric="flight.lat", url="http://127.0.0.1:1")
    assert (code, err) == (2, "hubbub: METRIC must be one of flight.late; got 'flight.lat'\n")


def test_a_folder_that_is_in_use(report: Report) -> None:
    from hubbub.client import SqliteState

    held = SqliteState("device")
    try:
        code, _, err = report(0, "yes", url="http://127.0.0.1:1")
    finally:
        held.close()
    assert code == 2
    assert err.startswith("hubbub: state device: in use by another process")
