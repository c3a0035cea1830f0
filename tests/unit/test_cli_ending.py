"""How commands with many devices end."""

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from hubbub.cli.ending import crowded


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    gc.unfreeze()
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_as_ctrl_c_does(number: signal.Signals) -> None:
    signal.signal(number, signal.SIG_DFL)
    tidied: list[str] = []

    def command() -> None:
        with crowded(), ExitStack() as stack:
            stack.callback(tidied.append, "the collector")
            os.kill(os.getpid(), number)
            tidied.append("went on")

    with pytest.raises(SystemExit) as ended:
        command()
    assert tidied == ["the collector"]
    assert ended.value.code == 128 + number
    assert signal.getsignal(number) is signal.SIG_DFL


def test_what_is_ignored_stays_ignored() -> None:
    """As `nohup` has it."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with crowded():
        os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_nobody_looks_for_garbage_among_the_devices() -> None:
    for collecting in (gc.enable, gc.disable):
        collecting()
        before = gc.isenabled()
        with crowded():
            assert not gc.isenabled()
            devices = [[number] for number in range(1000)]
        assert gc.isenabled() == before
        gc.enable()
        assert not any(found is devices for found in gc.get_objects())  # not even when Python ends
        gc.unfreeze()
        assert any(found is devices for found in gc.get_objects())
