"""The process that takes reports, as `hubbub serve` starts it."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from hubbub.clock import ScaledClock
from hubbub.collector.app import create_app
from hubbub.lock import parse
from hubbub.serving.process import run
from hubbub.serving.settings import Settings
from hubbub.store import open_store


@contextmanager
def application(settings: Settings) -> Iterator[ASGIApp]:
    """The ingest application with its store."""
    locks = [parse(text) for text in settings.locks]
    clock = settings.time()
    with open_store(settings.store, dev=settings.dev) as store:
        if isinstance(clock, ScaledClock):
            store.run_by(clock)
        yield create_app(store, locks, clock=clock, stopped=settings.stopped)


if __name__ == "__main__":
    run(application)
