"""docs/reference/estimates.md says what rows hold: every column, every state, and examples that run."""

import re
import sqlite3
from pathlib import Path

import msgspec
import pytest

from hubbub import clock
from hubbub.estimates import Row, period, rows
from hubbub.estimates.wording import STATES
from hubbub.store import ESTIMATE_COLUMNS, open_store
from tests.unit.collecting import DAY, FIRST, GRACE, end
from tests.unit.reading import fill

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "estimates.md").read_text("utf-8")
NOW = end(FIRST + 20) + GRACE


def table(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its two head lines."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_column_in_its_order() -> None:
    columns = [name.strip("`") for name, _ in table("Columns")]
    assert tuple(columns) == Row.__struct_fields__ == ESTIMATE_COLUMNS
    assert all(text for _, text in table("Columns"))


def test_every_state_in_its_order() -> None:
    assert [state.strip("`") for state, *_ in table("States")] == list(STATES)
    withheld = [state.strip("`") for state, _, value in table("States") if value == "missing"]
    assert withheld == ["open", "empty", "suppressed"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in the current folder, long after all its windows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clock.SystemClock, "now", lambda self: float(NOW))
    path = fill(tmp_path / "store.db")
    with open_store(path) as opened:
        opened.publish(map(msgspec.structs.astuple, rows(opened, now=NOW)))
    return path


def test_python_examples_run(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("python")) == 2
    for block in blocks("python"):
        exec(compile(block, "estimates.md", "exec"), {})
        assert capsys.readouterr().out
    # The second prints a difference with its interval.
    exec(blocks("python")[1], {})
    assert re.fullmatch(r"-?[\d.]+ min more, -?[\d.]+ to -?[\d.]+\n", capsys.readouterr().out)


def test_sql_gives_nearly_the_mean(store: Path) -> None:
    (query,) = blocks("sql")
    connection = sqlite3.connect(store)
    windows, value, se = connection.execute(query).fetchone()
    connection.close()
    with open_store(store, read_only=True) as opened:
        listed = rows(opened, now=NOW, metric="editor.minutes", segment="stable", end=(FIRST + 7) * DAY)
        shown = [row for row in listed if row.version == 1 and row.value is not None]
        mean = period(
            opened, now=NOW, metric="editor.minutes", segment="stable", version=1, start=(FIRST + 4) * DAY,
            end=(FIRST + 7) * DAY,
        )  # fmt: skip
    assert windows == len(shown) == 6  # the day with 20 reports is suppressed
    assert value == pytest.approx(sum(row.value or 0 for row in shown) / 6)
    three = query.replace("2026-12-01", "2026-12-05")
    connection = sqlite3.connect(store)
    windows, value, se = connection.execute(three).fetchone()
    connection.close()
    assert (windows, value) == (mean.windows, pytest.approx(mean.value))
    assert se == pytest.approx(mean.se, rel=0.01)
