"""Words of a list on the command line and on pages: what is found, what is refused, what stands without a list."""

import csv
import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import hubbub
from hubbub.answers import source
from hubbub.cli import candidates
from hubbub.clock import FileClock, ManualClock, ScaledClock
from hubbub.dashboard import create_app
from hubbub.errors import ParameterError
from hubbub.estimates import Row, WindowWords, rows, word_rows, words
from hubbub.lock import Metric
from hubbub.mechanisms import of_metric
from hubbub.mechanisms.word_table import WordTable
from hubbub.mechanisms.words import values_of
from hubbub.store import Report, open_store
from hubbub.testing.words import GeneratorWords
from hubbub.wire import pack
from tests.unit.browsing import page
from tests.unit.collecting import FIRST, key, lock, minutes, stored
from tests.unit.shell import Shell, commands
from tests.unit.test_words_kind import metric

NAME = "editor.minutes"
CROWD = {"grep": 900, "make": 600, "": 500}
LIST = ("grep", "make", "vim", "emacs")
BOTH = metric(strategy='"fresh"', epsilon="4.0", dimensions='{ channel = ["stable", "beta"] }')


def fill(path: Path, metric: Metric, crowds: dict[tuple[int, str], dict[str, int]]) -> Path:
    """A store in which windows and segments have these crowds; the noise is drawn from a seed."""
    mechanism, rng, number = of_metric(metric), np.random.default_rng(5), 0
    with open_store(path) as store:
        store.accept(lock(metric))
        for (window, segment), crowd in crowds.items():
            every = [word for word, count in crowd.items() for _ in range(count)]
            sent = mechanism.randomise(values_of(every), GeneratorWords(rng))
            where = key(metric)._replace(window=FIRST + window)
            radices = metric.encoder.radices
            payloads = [pack(tuple(fields), radices) for fields in sent.tolist()]
            store.write([Report(where, number + i, segment, payload) for i, payload in enumerate(payloads)])
            number += len(every)
    return path


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    crowds = {(0, "stable"): CROWD, (0, "beta"): {"vim": 1000}, (1, "stable"): {"make": 20}}
    return fill(tmp_path_factory.mktemp("filled") / "store.db", BOTH, crowds)


NOW = BOTH.windows.end(FIRST + 1) + BOTH.grace
TWO = ("--end", "2026-12-03", "--clock", "clock")  # the two windows that have reports


@pytest.fixture
def shell(filled: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Runs `hubbub ...` in a folder with a store, its clock and a list; exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    shutil.copy(filled, tmp_path / "store.db")
    FileClock(tmp_path / "clock").set(NOW)
    Path("list").write_text("".join(f"{word}\n" for word in LIST), "utf-8")

    return commands(capsys)


def found(**asked: object) -> list[WindowWords]:
    with open_store("store.db", read_only=True) as store:
        return words(store, LIST, now=NOW, metric=NAME, end=float(BOTH.windows.end(FIRST + 1)), **asked)  # type: ignore[arg-type]


def table(window: WindowWords) -> WordTable:
    assert window.table is not None
    return window.table


def test_a_table_for_each_window(shell: Shell) -> None:
    code, out, err = shell("estimate", "store.db", NAME, "--candidates", "list", *TWO)
    assert (code, err) == (0, "")
    beta, stable = (table(window) for window in found()[:2])
    assert stable.words == ("grep", "make")  # nobody has the others: chance 0.05 at most, and the noise is from a seed
    assert beta.words == ("vim",)
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0].startswith(f"{NAME}, version 1: ")
    first = lines.index("2026-12-01, stable: final, 2000 reports")
    shown = lines[first : lines.index("2026-12-02, beta: empty, 0 reports")]
    (line,) = [line.split() for line in shown if line.startswith("grep")]
    assert float(line[1]) == pytest.approx(100 * stable.share[0], abs=0.06)
    assert float(line[3]) == pytest.approx(100 * stable.se[0], abs=0.06)
    low, high = stable.interval()
    assert float(line[5]) == pytest.approx(100 * low[0], abs=0.06)
    assert float(line[7]) == pytest.approx(100 * high[0], abs=0.06)
    assert f"{100 * stable.floor:.3g} % (detection floor) and from 100 devices on." in " ".join(shown)
    assert any(line.startswith("2 of 4 candidates found, 2 not") for line in shown)
    (rest,) = [line.split() for line in shown if line.startswith("Unallocated:")]
    assert float(rest[1]) == pytest.approx(100 * stable.unallocated, abs=0.06)
    assert "2026-12-02, stable: suppressed, 20 reports" in lines
    assert [line.partition(":")[0] for line in lines[-3:]] == ["empty", "suppressed", "final"]
    assert "Price: epsilon 4.000 for each report, and they add up: everything is fresh." in out


def test_json_is_an_array_of_windows(shell: Shell) -> None:
    asked = "--candidates", "list", *TWO, "--json"
    code, out, err = shell("estimate", "store.db", NAME, *asked, "--segment", "stable", "--level", "0.9")
    assert (code, err) == (0, "")
    first, second = json.loads(out)
    (window, _) = found(segment="stable", level=0.9)
    one = table(window)
    assert [word["word"] for word in first["words"]] == ["grep", "make"]
    assert first["words"][0]["share"] == one.share[0]
    assert first["words"][0]["se"] == one.se[0]
    named = ("state", "n", "level", "candidates", "hidden", "floor", "least", "unallocated", "control")
    assert [first[name] for name in named] == [
        *("final", 2000, 0.9, 4, 2, one.floor, 100, one.unallocated, "bonferroni")
    ]
    assert (first["epsilon"], first["permanent_epsilon"]) == (pytest.approx(4), None)
    assert (second["state"], second["n"], second["words"], second["floor"]) == ("suppressed", 20, None, None)


def test_a_range_and_a_looser_control(shell: Shell) -> None:
    asked = "--candidates", "list", "--clock", "clock", "--json", "--control", "benjamini_hochberg"
    code, out, _ = shell("estimate", "store.db", NAME, *asked, "--end", "2026-12-02")
    assert code == 0
    told = json.loads(out)
    assert [(window["window_start"][:10], window["segment"]) for window in told] == [
        ("2026-12-01", "beta"),
        ("2026-12-01", "stable"),
    ]
    assert told[1]["floor"] == table(found(control="benjamini_hochberg")[1]).floor < table(found()[1]).floor


def test_without_candidates_there_is_a_row_without_a_value(shell: Shell) -> None:
    code, out, err = shell("estimate", "store.db", *TWO)
    assert (code, err) == (0, "")
    assert "Words need candidates: `hubbub estimate STORE editor.minutes --candidates FILE`" in " ".join(out.split())
    with open_store("store.db", read_only=True) as store:
        every = rows(store, now=NOW, end=float(BOTH.windows.end(FIRST + 1)))
    assert [(row.segment, row.state, row.n, row.value, row.category) for row in every] == [
        ("beta", "final", 1000, None, None),
        ("stable", "final", 2000, None, None),
        ("beta", "empty", 0, None, None),
        ("stable", "suppressed", 20, None, None),
    ]
    assert {(row.se, row.method, row.manipulation_per_percent) for row in every} == {(None, None, None)}
    code, out, _ = shell("estimate", "store.db", *TWO, "--json", "--mean")
    assert (code, json.loads(out)["means"]) == (0, [])


def test_export_has_a_row_for_each_word(shell: Shell) -> None:
    asked = "--metric", NAME, "--candidates", "list", *TWO
    assert shell("export", "store.db", "out.csv", *asked)[0] == 0
    with Path("out.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    names = [(line["segment"], line["category"], line["state"], line["method"]) for line in lines]
    assert names == [
        ("beta", "vim", "final", "regression"),
        ("stable", "grep", "final", "regression"),
        ("stable", "make", "final", "regression"),
        ("beta", "", "empty", ""),
        ("stable", "", "suppressed", ""),
    ]
    assert float(lines[1]["value"]) == table(found()[1]).share[0]
    assert lines[1]["se_shared"] == ""
    assert shell("export", "store.db", "out.parquet", *asked)[0] == 0


def test_a_frame_of_words(shell: Shell) -> None:
    with hubbub.open("store.db", clock=ManualClock(NOW)) as answers:
        frame = answers.words(NAME, LIST, segment="stable")
    assert frame["category"].tolist()[:2] == ["grep", "make"]
    assert frame["value"].tolist()[0] == table(found()[1]).share[0]


def test_a_share_beyond_what_is_possible_is_tidied(shell: Shell) -> None:
    one = found()[0]
    (row,) = word_rows([one._replace(table=_scaled(table(one), 1.2))])
    assert isinstance(row, Row)
    assert row.value is not None
    assert row.value > 1
    assert row.tidied == 1


def _scaled(found: WordTable, factor: float) -> WordTable:
    return WordTable(**{**vars(found), "share": factor * found.share / found.share[0]})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "--candidates must be a list of 1 to 10000000 words; got 'list, with 0 lines'"),
        (b"grep\n\nmake\n", "a word in each line; got 'list, line 2, which is empty'"),
        (b"grep\nm\xfcller\n", "words in UTF-8; got 'list, line 2'"),
        (b"grep\nmake\n" + b"x" * 5000, "at most 4096 bytes; got 'list, line 3, of 5000 bytes'"),
    ],
)
def test_a_list_that_cannot_be_used(shell: Shell, content: bytes, said: str) -> None:
    Path("list").write_bytes(content)
    for command in (("estimate", "store.db", NAME), ("export", "store.db", "-", "--metric", NAME)):
        code, out, err = shell(*command, "--candidates", "list", "--clock", "clock")
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1


def test_how_a_list_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "list"
    path.write_bytes("\ufeffgrep\r\n a b \r\ngrep\r\nstraße".encode())
    assert candidates.read(path) == ["grep", " a b ", "straße"]
    monkeypatch.setattr(candidates, "MOST_BYTES", 10)
    with pytest.raises(ParameterError, match="--candidates must be a list of at most 10 bytes"):
        candidates.read(path)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([], "metric must be the name of a metric of words where --candidates are given; got None"),
        (["other"], "metric must be one of editor.minutes; got 'other'"),
        ([NAME, "--mean"], "--mean must be left out with --candidates"),
        ([NAME, "--level", "2"], "level must be a number in (0, 1)"),
        ([NAME, "--segment", "gamma"], "segment must be one of"),
        ([NAME, "--control", "none"], "'--control'"),
    ],
)
def test_bad_input(shell: Shell, asked: list[str], said: str) -> None:
    code, out, err = shell("estimate", "store.db", *asked, "--candidates", "list", "--clock", "clock")
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_other_kinds_and_listeners_are_refused(shell: Shell) -> None:
    with open_store("other.db") as store:
        store.accept(lock(minutes()))
    code, _, err = shell("estimate", "other.db", NAME, "--candidates", "list")
    assert (code, err) == (2, "hubbub: metric must be one of the kind words; got 'editor.minutes'\n")
    with open_store("other.db") as store:
        store.write(stored(minutes(), 200, ones=100, segment="stable"))
    assert shell("estimate", "other.db", NAME, "--candidates", "list")[0] == 2
    code, _, err = shell("estimate", "http://127.0.0.1:1", NAME, "--candidates", "list")
    assert (code, err.count("\n")) == (2, 1)
    assert "STORE must be the store's file" in err


def test_signs_that_a_terminal_would_obey_are_written_out(shell: Shell, tmp_path: Path) -> None:
    plain = metric(strategy='"fresh"', epsilon="4.0")
    fill(Path("odd.db"), plain, {(0, ""): {"a\x1b[2Jb": 900, "": 900}})
    Path("list").write_text("a\x1b[2Jb\n")
    code, out, _ = shell("estimate", "odd.db", NAME, "--candidates", "list", "--clock", "clock", "--end", "2026-12-02")
    assert code == 0
    assert "a\\x1b[2Jb" in out
    assert "\x1b" not in out


def test_a_store_of_dev_says_that_its_time_runs_ahead(shell: Shell) -> None:
    with open_store("dev.db", dev=True) as store:
        store.accept(lock(BOTH))
    for command in (("estimate", "dev.db"), ("export", "dev.db", "-")):
        code, _, err = shell(*command)
        assert code == 0
        assert err.startswith("hubbub: warning: this store is of `serve --dev`")
        assert "or say with --clock FILE what time it is there; words are looked for in the file alone" in err
        assert shell(*command, "--clock", "clock")[2] == ""
    assert not shell("estimate", "store.db")[2]
    with source("store.db") as real:
        assert not real.ahead


def test_a_store_of_dev_is_read_by_the_clock_that_it_runs_by(shell: Shell) -> None:
    ended = BOTH.windows.end(FIRST)
    with open_store("dev.db", dev=True) as store:
        store.accept(lock(minutes()))
        store.write(stored(minutes(), 200, ones=90, segment="stable"))
    for now, state in ((ended - 3600, "open"), (ended + 3600, "provisional"), (ended + minutes().grace, "final")):
        with open_store("dev.db", dev=True) as store:
            store.run_by(ScaledClock(1e-6, now + 1.0, time.time()))  # as good as standing still
        code, out, err = shell("estimate", "dev.db", "--end", "2026-12-02", "--json")
        assert (code, err) == (0, "")
        assert {row["state"] for row in json.loads(out) if row["segment"] == "stable"} == {state}
        code, out, err = shell("export", "dev.db", "-", "--end", "2026-12-02")
        assert (code, err) == (0, "")
        assert {row["state"] for row in csv.DictReader(out.splitlines()) if row["segment"] == "stable"} == {state}
    Path("other").write_text(f"{ended + 3600}", "ascii")
    told = json.loads(shell("estimate", "dev.db", "--end", "2026-12-02", "--json", "--clock", "other")[1])
    assert "provisional" in {row["state"] for row in told}  # what is said by hand goes before


def test_pages_say_how_words_are_found(shell: Shell) -> None:
    with open_store("store.db", read_only=True) as store:
        app = create_app(store, clock=ManualClock(NOW))
        one, every = page(app, f"/m/{NAME}"), page(app, "/")
    assert f"hubbub estimate STORE {NAME} --candidates FILE" in one.words
    assert one.all("li", **{"data-mark": "undecoded"})
    assert "words show in hubbub estimate with --candidates" in every.words
    assert "No reports yet" not in every.words
    assert "Lies count" not in one.words
