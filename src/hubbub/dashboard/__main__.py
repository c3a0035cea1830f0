"""The process that shows estimates, as `hubbub serve` starts it."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from hubbub.dashboard.app import create_app
from hubbub.serving.process import run
from hubbub.serving.settings import Settings
from hubbub.store import open_store


@contextmanager
def application(settings: Settings) -> Iterator[ASGIApp]:
    """The read application with its store, opened once for reading and once for the table of estimates."""
    with (
        open_store(settings.store, dev=settings.dev) as table,
        open_store(settings.store, dev=settings.dev, read_only=True) as store,
    ):
        yield create_app(store, clock=settings.time(), table=table, ingest=settings.ingest, read=settings.read)


if __name__ == "__main__":
    run(application)
