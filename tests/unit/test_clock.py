"""Clocks: what each tells, and what a shared file may do."""

import threading
import time
from pathlib import Path

import pytest

from hubbub.clock import Clock, FileClock, ManualClock, ScaledClock, SystemClock
from hubbub.errors import ParameterError


def test_system_clock() -> None:
    before = time.time()
    assert before <= SystemClock().now() <= time.time()


def test_manual_clock_stands_still_until_set() -> None:
    clock = ManualClock(5)
    assert clock.now() == clock.now() == 5.0
    clock.set(3)
    assert clock.now() == 3.0
    assert isinstance(ManualClock().now(), float)


def test_file_clock_is_shared(tmp_path: Path) -> None:
    writer, reader = FileClock(tmp_path / "clock"), FileClock(str(tmp_path / "clock"))
    for now in (1_796_083_200, 0.25, -7, 1_796_083_200.000001):
        writer.set(now)
        assert reader.now() == writer.now() == now
    assert [path.name for path in tmp_path.iterdir()] == ["clock"]


def test_file_clock_sees_each_of_many_quick_changes(tmp_path: Path) -> None:
    writer, reader = FileClock(tmp_path / "clock"), FileClock(tmp_path / "clock")
    for now in range(1000, 1200, 2):
        writer.set(now)
        assert reader.now() == now
        (tmp_path / "clock").write_text(f"{now + 1:.6f}\n", "ascii")  # same size, perhaps the same instant
        assert reader.now() == now + 1


def test_file_clock_never_shows_a_half_written_time(tmp_path: Path) -> None:
    writer, reader = FileClock(tmp_path / "clock"), FileClock(tmp_path / "clock")
    writer.set(0)
    done = threading.Event()
    seen = []

    def read() -> None:
        while not done.is_set():
            seen.append(reader.now())

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for i in range(500):
            writer.set((1_000_000, 7)[i % 2])
    finally:
        done.set()
        thread.join()
    assert set(seen) <= {0, 1_000_000, 7}
    assert seen


def test_file_clock_without_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="clock must be a readable file that holds unix seconds"):
        FileClock(tmp_path / "clock").now()


@pytest.mark.parametrize("text", ["", "noon", "2026-12-01", "nan", "inf", "1 2", "1,5", "\u0663"])
def test_file_clock_with_something_else(tmp_path: Path, text: str) -> None:
    (tmp_path / "clock").write_text(text, "utf-8")
    with pytest.raises(ParameterError, match="clock must be"):
        FileClock(tmp_path / "clock").now()


def test_file_clock_may_come_back(tmp_path: Path) -> None:
    clock = FileClock(tmp_path / "clock")
    clock.set(1)
    (tmp_path / "clock").unlink()
    with pytest.raises(ParameterError):
        clock.now()
    clock.set(2)
    assert clock.now() == 2


def test_scaled_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ManualClock(100)
    monkeypatch.setattr(time, "time", real.now)
    fast, here = ScaledClock(8640, start=1_796_083_200), ScaledClock(2)
    assert (fast.now(), here.now()) == (1_796_083_200, 100)
    real.set(110)
    assert (fast.now(), here.now()) == (1_796_083_200 + 86_400, 120)


def test_scaled_clocks_that_share_an_origin_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ManualClock(100)
    monkeypatch.setattr(time, "time", real.now)
    early = ScaledClock(8640, 1000.0, 100.0)
    real.set(103)
    late = ScaledClock(8640, 1000.0, 100.0)
    assert early.now() == late.now() == 1000.0 + 3 * 8640


@pytest.mark.parametrize("speed", [0, -1, float("nan")])
def test_scaled_clock_runs_forwards(speed: float) -> None:
    with pytest.raises(ParameterError, match="speed must be > 0"):
        ScaledClock(speed)


def test_all_are_clocks(tmp_path: Path) -> None:
    clocks: list[Clock] = [SystemClock(), ManualClock(), FileClock(tmp_path / "clock"), ScaledClock(1)]
    assert all(callable(clock.now) for clock in clocks)
