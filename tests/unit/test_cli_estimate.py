"""`hubbub estimate` and `hubbub export`: what they print and write, and what they say of bad input."""

import csv
import io
import json
import os
import shutil
from pathlib import Path

import msgspec
import pandas as pd
import pytest

from hubbub.clock import FileClock, ManualClock
from hubbub.estimates import Row, period, rows
from hubbub.store import open_store
from tests.unit.collecting import DAY, FIRST, GRACE, end, late, lock, minutes, stored
from tests.unit.reading import answering, fill, listening, unused_port
from tests.unit.shell import Shell, commands

NOW = end(FIRST + 6) + GRACE


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("filled") / "store.db")


@pytest.fixture
def shell(filled: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Runs `hubbub ...` in a folder with a store and its clock; exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    shutil.copy(filled, tmp_path / "store.db")
    FileClock(tmp_path / "clock").set(NOW)

    return commands(capsys)


def known(**asked: object) -> list[Row]:
    with open_store("store.db", read_only=True) as store:
        return rows(store, now=NOW, **asked)  # type: ignore[arg-type]


def test_a_table_for_people(shell: Shell) -> None:
    code, out, err = shell("estimate", "store.db", "flight.late", "--clock", "clock", "--end", "2026-12-10", "--mean")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].rstrip() == "flight.late, version 1: For tests"
    assert lines[2].split() == ["day", "n", "state", "estimate", "95", "%", "interval"]
    for line, row in zip(lines[4:], known(metric="flight.late", end=(FIRST + 9) * DAY), strict=False):
        words = line.split()
        assert words[:3] == [row.window_start[:10], str(row.n), row.state]
        if row.value is None:
            assert words[3:] == ["–", "–"]
        else:
            assert float(words[3]) == pytest.approx(100 * row.value, abs=0.06)
            assert words[4] == words[-1] == "%"
            assert float(words[5]) == pytest.approx(100 * row.ci_low, abs=0.06)  # type: ignore[operator]
            assert words[6] == "to"
            assert float(words[7]) == pytest.approx(100 * row.ci_high, abs=0.06)  # type: ignore[operator]
    with open_store("store.db", read_only=True) as store:
        mean = period(store, now=NOW, metric="flight.late", end=(FIRST + 9) * DAY)
    assert mean.value is not None
    (line,) = [line for line in lines if line.startswith("Mean")]
    assert line.startswith(f"Mean over 9 windows: {100 * mean.value:.1f} %, ")
    assert "(provisional)" in line
    assert "Price: epsilon 1.000 for each report, and they add up: everything is fresh." in out
    states = [line.partition(":")[0] for line in lines[-3:]]
    assert states == ["suppressed", "provisional", "final"]


def test_every_segment_and_encoding_has_its_mean(shell: Shell) -> None:
    code, out, _ = shell("estimate", "store.db", "editor.minutes", "--clock", "clock", "--end", "2026-12-10", "--mean")
    assert code == 0
    assert [line.split(":")[0] for line in out.splitlines() if line.startswith("Mean")] == [
        "Mean of beta over 9 windows",
        "Mean of stable over 9 windows",
        "Mean of beta over 3 windows",
        "Mean of stable over 0 windows",
    ]
    assert " min " in out


def test_states_are_not_explained_where_all_is_final(shell: Shell) -> None:
    code, out, _ = shell("estimate", "store.db", "flight.late", "--clock", "clock", "--end", "2026-12-03")
    assert code == 0
    assert "no more reports" not in out
    assert out.count("final") == 2


def test_json_is_the_rows(shell: Shell) -> None:
    code, out, err = shell("estimate", "store.db", "--clock", "clock", "--json", "--level", "0.9")
    assert (code, err) == (0, "")
    assert msgspec.json.decode(out, type=list[Row]) == known(level=0.9)
    code, out, _ = shell("estimate", "store.db", "--clock", "clock", "--json", "--mean")
    found = json.loads(out)
    assert found.keys() == {"rows", "means"}
    assert [(mean["metric"], mean["segment"], mean["version"]) for mean in found["means"]] == [
        ("editor.minutes", "beta", 1),
        ("editor.minutes", "stable", 1),
        ("editor.minutes", "beta", 2),
        ("editor.minutes", "stable", 2),
        ("flight.late", "", 1),
    ]


def test_a_listener_gives_the_same(shell: Shell) -> None:
    with listening(Path("store.db"), ManualClock(NOW)) as url:
        for words in (("--mean",), ("--mean", "--json"), ("flight.late", "--json")):
            assert shell("estimate", url, *words) == shell("estimate", "store.db", *words, "--clock", "clock")
        for name in ("a.csv", "b.parquet"):
            assert shell("export", url, f"url-{name}")[0] == 0
            assert shell("export", "store.db", name, "--clock", "clock")[0] == 0
            assert Path(f"url-{name}").read_bytes() == Path(name).read_bytes()


def test_a_store_without_reports(shell: Shell) -> None:
    with open_store("new.db") as store:
        assert shell("estimate", "new.db")[:2] == (0, "No reports yet.\n")
        assert shell("estimate", "new.db", "--mean", "--json")[1] == '{\n  "rows": [],\n  "means": []\n}\n'
        store.accept(lock(minutes()))
    code, out, _ = shell("estimate", "new.db")
    assert (code, out) == (0, "No windows with reports in this range.\n")


def test_a_mean_that_is_withheld_says_so(shell: Shell) -> None:
    metric = late()
    with open_store("few.db") as store:
        store.accept(lock(metric))
        for day in range(7):
            store.write(stored(metric, 20, ones=5, window=FIRST + day))
    code, out, _ = shell("estimate", "few.db", "--clock", "clock", "--end", "2026-12-08", "--mean")
    assert code == 0
    assert "Mean over 7 windows: suppressed, 20 devices' worth of reports" in out


def test_no_mean_where_no_window_has_ended(shell: Shell) -> None:
    metric = late()
    with open_store("new.db") as store:
        store.accept(lock(metric))
        store.write(stored(metric, 250, ones=5))
    FileClock("clock").set(end(FIRST) - 60)
    code, out, _ = shell("estimate", "new.db", "--clock", "clock", "--mean")
    assert (code, "Mean" in out) == (0, False)
    assert "open: the window has not ended" in out


BAD = [
    (["nothing.db"], "nothing.db: cannot be read"),
    (["text.db"], "text.db: not a hubbub store"),
    (["store.db", "no.such"], "metric must be one of editor.minutes, flight.late; got 'no.such'"),
    (["store.db", "--level", "0"], "level must be a number in (0, 1); got 0.0"),
    (["store.db", "--level", "1.5"], "level must be a number in (0, 1); got 1.5"),
    (["store.db", "--start", "tomorrow"], "start must be an ISO date"),
    (["store.db", "--start", "2026-12-05", "--end", "2026-12-04"], "start must be before the end, 2026-12-04; got"),
    (["store.db", "editor.minutes", "--segment", "gamma"], "segment must be one of 'beta', 'stable'; got 'gamma'"),
    (["http://telemetry.example.org"], "address must be an https address where the listener is on another machine"),
    (["store.db", "--clock", "none"], "clock must be a readable file that holds unix seconds; got 'none'"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), BAD)
@pytest.mark.parametrize("command", [["estimate"], ["estimate", "--mean", "--json"], ["export"]])
def test_bad_input(shell: Shell, command: list[str], words: list[str], message: str) -> None:
    Path("text.db").write_text("hello " * 1000)
    if command == ["export"]:
        words = [
            words[0],
            "out.csv",
            *(["--metric", words[1]] if words[1:] and words[1][0] != "-" else words[1:2]),
            *words[2:],
        ]
    code, out, err = shell(*command, *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"hubbub: {message}")
    assert err.count("\n") == 1
    assert not Path("out.csv").exists()
    assert not Path("nothing.db").exists()


def test_nobody_answers(shell: Shell) -> None:
    url = f"http://127.0.0.1:{unused_port()}"
    assert shell("estimate", url) == (2, "", f"hubbub: {url}: no answer (connection refused)\n")
    with answering(200, b"<html>", {"content-type": "text/html"}) as other:
        code, out, err = shell("export", other, "out.csv")
        assert (code, out) == (2, "")
        assert "not as the read listener of `hubbub serve`" in err


# Export


def test_csv(shell: Shell) -> None:
    code, out, err = shell("export", "store.db", "days.csv", "--clock", "clock", "--metric", "flight.late")
    expected = known(metric="flight.late")
    assert (code, out, err) == (0, "", f"Wrote days.csv: {len(expected)} rows\n")
    with Path("days.csv").open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert list(found[0]) == list(Row.__struct_fields__)
    for line, row in zip(found, expected, strict=True):
        for name, value in msgspec.structs.asdict(row).items():
            assert line[name] == ("" if value is None else value if isinstance(value, str) else repr(value))


def test_csv_on_stdout(shell: Shell) -> None:
    assert shell("export", "store.db", "days.csv", "--clock", "clock")[0] == 0
    code, out, err = shell("export", "store.db", "-", "--clock", "clock")
    assert (code, err) == (0, "")
    assert out == Path("days.csv").read_text("utf-8")
    assert len(pd.read_csv(io.StringIO(out))) == len(known())


def test_parquet(shell: Shell) -> None:
    words = ("--clock", "clock", "--start", "2026-12-03", "--end", "2026-12-06", "--segment", "beta", "--level", "0.5")
    assert shell("export", "store.db", "days.parquet", *words)[0] == 0
    frame = pd.read_parquet("days.parquet")
    expected = known(start=(FIRST + 2) * DAY, end=(FIRST + 5) * DAY, segment="beta", level=0.5)
    assert frame.n.tolist() == [row.n for row in expected]
    assert frame.value.dropna().tolist() == [row.value for row in expected if row.value is not None]
    assert str(frame.window_start.dtype) == "datetime64[us, UTC]"
    assert frame.category.isna().all()


def test_a_file_is_not_replaced_unasked(shell: Shell) -> None:
    Path("days.csv").write_text("mine")
    code, out, err = shell("export", "store.db", "days.csv")
    assert (code, out, err) == (2, "", "hubbub: FILE must be a new file, or --force given; got 'days.csv'\n")
    assert Path("days.csv").read_text() == "mine"
    assert shell("export", "store.db", "days.csv", "--force")[0] == 0
    assert Path("days.csv").read_text().startswith("metric,")


@pytest.mark.parametrize("name", ["days.xlsx", "days", "csv"])
def test_other_endings(shell: Shell, name: str) -> None:
    code, _, err = shell("export", "store.db", name)
    assert (code, err) == (2, f"hubbub: FILE must be a name that ends in .csv or .parquet, or -; got '{name}'\n")


def test_a_folder_that_is_not_there(shell: Shell) -> None:
    code, _, err = shell("export", "store.db", "none/days.csv")
    assert (code, err) == (2, "hubbub: FILE must be a file in a folder that exists; got 'none/days.csv'\n")


def test_a_file_appears_whole_or_not_at_all(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    for name in ("days.csv", "days.parquet"):
        code, _, err = shell("export", "store.db", name)
        assert (code, err) == (2, "hubbub: no space left on device\n")
    assert sorted(path.name for path in Path().iterdir() if "days" in path.name) == []


def test_a_file_can_be_read_by_those_who_may(shell: Shell) -> None:
    before = os.umask(0o027)
    try:
        assert shell("export", "store.db", "days.csv")[0] == 0
    finally:
        os.umask(before)
    assert Path("days.csv").stat().st_mode & 0o777 == 0o640
