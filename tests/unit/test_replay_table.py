"""Tables of real values: what is read, and what is refused and in which words."""

from pathlib import Path

import pandas as pd
import pytest

from hubbub.errors import ParameterError
from hubbub.replay import Columns, Fleet, Table, TableError, read
from tests.unit.replay_support import lock_of

COLUMNS = Columns("device", "window", "value")
SPLIT = Columns("device", "window", "value", segment="cell")
AWAKE = Columns("device", "window", "value", awake="on")
LOCK = lock_of()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("device,window\na,0\n", "no column 'value'"),
        ("device,window,value\n", "empty"),
        ("", "cannot be read"),
        ("device,window,value\na,0,1\na,0,0\n", "row 3: a device has two rows"),
        ("device,window,value\na,0,1\nb,0,secret9\n", "row 3, column 'value': must be yes or no"),
        ("device,window,value\na,0,nan\n", "row 2, column 'value': must be"),
        ("device,window,value\na,0,7\n", "row 2, column 'value': must be yes or no"),
        ("device,window,value\na,soon,1\n", "row 2, column 'window': must be"),
        ("device,window,value\na,-1,1\n", "row 2, column 'window': must be"),
        ("device,window,value\na,9999999999999999999999,1\n", "row 2, column 'window': must be"),
        ("device,window,value\na,2026-03-01,1\n", "row 2, column 'window': outside"),
        (
            "device,window,value\na,31,1\n",
            "row 2, column 'window': outside the metric's life, 2026-03-02 to 2026-04-02",
        ),
        ("device,window,value\na,0,1,1\n", "row 2 has 4 cells, the header 3"),
        ("device,window,value\na,0\n", "row 2 has 2 cells, the header 3"),
        ("device,window,value,value\na,0,1,1\n", "2 columns 'value'"),
        ("device,window,value\n,0,1\n", "row 2, column 'device': must not be empty"),
        ("secret9,0,1\nsecret9,1,1\n", "no column 'device'; its first row should name it and names 3 others"),
        # By lines, as an editor counts them: empty ones count, and so does each line of a cell.
        ("device,window,value\n\na,0,1\n\na,soon,1\n", "row 5, column 'window'"),
        ('device,window,value\n"a\n1",0,1\na,0,7\n', "row 4, column 'value'"),
        ('device,window,value\n"a\n1",0,7\n', "row 2, column 'value'"),
    ],
)
def test_tables_that_cannot_be_replayed(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=message) as caught:
        read(path, COLUMNS, LOCK.metrics["app.used"])
    assert "secret9" not in str(caught.value)


def test_a_number_has_bounds(tmp_path: Path) -> None:
    """Sums of larger ones are infinite."""
    path = tmp_path / "t.csv"
    for value in ("1e16", "-1e308", "inf"):
        path.write_text(f"device,window,value\na,0,{value}\n")
        with pytest.raises(TableError, match=r"must be a number in \[-1e\+15, 1e\+15\], as app.minutes takes it"):
            read(path, COLUMNS, LOCK.metrics["app.minutes"])


def test_a_table_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    metric = LOCK.metrics["app.minutes"]
    path = tmp_path / "t.csv"
    path.write_text("x,device,window,value\n,a,2026-03-03,7.5\n,b,1,90\n,a,0,1\n,c,2026-03-03T10:00:00Z,0\n")
    table = read(path, COLUMNS, metric)
    first = metric.life.start
    assert table.windows == {first: {"a": 1.0}, first + 1: {"a": 7.5, "b": 90.0, "c": 0.0}}
    assert list(table.windows) == [first, first + 1]
    assert read(path, COLUMNS, metric, windows=1).windows == {first: {"a": 1.0}}
    assert read(path, COLUMNS, metric, devices=1).devices == ["a"]
    for name in ("devices", "windows"):
        with pytest.raises(ParameterError, match=f"{name} must be >= 1"):
            read(path, COLUMNS, metric, **{name: 0})


def test_the_last_window_becomes_another(tmp_path: Path) -> None:
    metric = LOCK.metrics["app.minutes"]
    path = tmp_path / "t.csv"
    path.write_text("device,window,value\na,2013-06-12,1\na,2013-06-14,2\nb,2013-06-15,3\n")
    last = metric.life.start + 5
    table = read(path, COLUMNS, metric, last=last)
    assert {window - last: row for window, row in table.windows.items()} == {-3: {"a": 1}, -1: {"a": 2}, 0: {"b": 3}}
    assert list(read(path, COLUMNS, metric, last=last, windows=2).windows) == [last - 2, last]
    with pytest.raises(TableError, match=r"outside the metric's life.*once the last window is that of 2026-03-04"):
        read(path, COLUMNS, metric, last=metric.life.start + 2)


def test_segments_are_read_and_are_for_life(tmp_path: Path) -> None:
    metric = LOCK.metrics["app.split"]
    path = tmp_path / "t.csv"
    rows = ["device,window,value,cell", "a,0,1,stable/mac", "b,0,0,beta/linux"]
    path.write_text("\n".join([*rows, "a,1,1,stable/mac", ""]))
    table = read(path, SPLIT, metric)
    assert (table.segment("a"), table.segment("b")) == ("stable/mac", "beta/linux")
    for row, message in (
        ("a,1,1,beta/mac", r"row 4, column 'cell': not the segment that the device had"),
        ("c,1,1,mac/stable", r"row 4, column 'cell': must be one of 'stable/mac', 'stable/linux', 'beta/mac'"),
        ("c,1,1,", r"row 4, column 'cell': must be one of"),
    ):
        path.write_text("\n".join([*rows, row, ""]))
        with pytest.raises(TableError, match=message):
            read(path, SPLIT, metric)


def test_devices_that_sleep_have_no_row(tmp_path: Path) -> None:
    metric = LOCK.metrics["app.minutes"]
    path = tmp_path / "t.csv"
    path.write_text("device,window,value,on\na,0,5,yes\nb,0,,0\nb,1,7,2.5\na,1,3,false\n")
    first = metric.life.start
    assert read(path, AWAKE, metric).windows == {first: {"a": 5.0}, first + 1: {"b": 7.0}}
    for rows, message in (
        ("a,0,5,perhaps\n", r"row 2, column 'on': must be yes or no, or a number"),
        ("a,0,5,0\n", r"no row has a yes in the column 'on'"),
        ("a,0,5,0\nb,0,x,1\n", r"row 3, column 'value'"),
    ):
        path.write_text("device,window,value,on\n" + rows)
        with pytest.raises(TableError, match=message):
            read(path, AWAKE, metric)


def test_parquet(tmp_path: Path) -> None:
    metric = LOCK.metrics["app.minutes"]
    path = tmp_path / "t.parquet"
    dates = pd.to_datetime(["2026-03-02", "2026-03-03"])
    pd.DataFrame({"device": [1, 2], "window": dates, "value": [1.5, 2.0], "more": ["x", "y"]}).to_parquet(path)
    first = metric.life.start
    assert read(path, COLUMNS, metric).windows == {first: {"1": 1.5}, first + 1: {"2": 2.0}}
    with pytest.raises(TableError, match="no column 'minutes'; it has 'device', 'window', 'value', 'more'"):
        read(path, Columns("device", "window", "minutes"), metric)
    pd.DataFrame({"device": ["a", None], "window": [0, 0], "value": [1, 1]}).to_parquet(path)
    with pytest.raises(TableError, match="row 3, column 'device': must not be empty"):
        read(path, COLUMNS, metric)
    path.write_bytes(b"PAR1, as it were")
    with pytest.raises(TableError, match="cannot be read as Parquet"):
        read(path, COLUMNS, metric)
    with pytest.raises(OSError, match="No such file"):
        read(tmp_path / "none.parquet", COLUMNS, metric)


def test_a_fleet_is_of_devices_that_run_together() -> None:
    one = Table({0: {"a": 1.0, "b": 2.0}, 1: {"a": 3.0}})
    assert Fleet({"m": one, "n": Table({0: {"a": 0.0, "b": 0.0}, 1: {"a": 0.0}})}, crowd=3).runs == 9 + 6
    for tables, crowd, message in (
        ({"m": one, "n": Table({0: {"a": 0.0}, 1: {"a": 0.0}})}, 1, "same devices in the same windows"),
        ({"m": one}, 0, r"crowd must be in \[1, 1000\]; got 0"),
        ({"m": one}, 10**9, r"crowd must be in \[1, 1000\]"),
        ({"m": Table({0: {str(d): 0.0 for d in range(2000)}})}, 1000, "at most 1000000 devices, not 2000000"),
    ):
        with pytest.raises(ParameterError, match=message):
            Fleet(tables, crowd)
