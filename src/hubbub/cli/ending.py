"""How a command that holds devices by the ten thousand ends: within a moment, whoever asks for it."""

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def crowded() -> Iterator[None]:
    """The work of such a command.

    SIGTERM and SIGHUP end it as Ctrl-C does, so that its collector is ended and its folder removed. Nobody looks for
    garbage among the devices, where there is none: half of the time would go there, and seconds once all is done.
    """
    asked = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in asked:  # not where it is somebody's will that they are ignored, as after nohup
        signal.signal(number, _stop)
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # what is left goes with the process: Python looks once more as it ends
        if collecting:
            gc.enable()
        for number in asked:
            signal.signal(number, signal.SIG_DFL)


def _stop(number: int, frame: object) -> None:
    raise SystemExit(128 + number)
