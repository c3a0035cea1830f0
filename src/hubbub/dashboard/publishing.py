"""Keeps the store's table `estimates` up to date, for whoever reads it with SQL."""

import asyncio
import logging
from itertools import groupby

import msgspec

from hubbub.clock import Clock
from hubbub.errors import HubbubError
from hubbub.estimates import Row, metrics, rows
from hubbub.store import Store
from hubbub.windows import windows

PUBLISH_SECONDS = 10.0


class Publisher:
    """Puts what has changed into the table: all windows at first, then those that were not final at the last time."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._before: float | None = None
        self._rows: dict[str, set[Row]] = {}

    def publish(self) -> int:
        """Bring the table up to date, and say how many rows changed.

        Raises:
            ParameterError: The clock cannot be read.
            StoreError: The store cannot be read or written; the next time tries it all again.
        """
        now, changed = self._clock.now(), 0
        before = self._before if self._before is not None and self._before <= now else None
        for name, versions in groupby(metrics(self._store), key=lambda known: known.name):
            # Whatever ended a grace before the last time was closed by then.
            reach = max(known.grace + windows(known.window).length for known in versions)
            start = None if before is None else before - reach
            found = set(rows(self._store, now=now, metric=name, start=start))
            news = found - self._rows.get(name, set())
            changed += self._store.publish(msgspec.structs.astuple(row) for row in news)
            self._rows[name] = found
        self._before = now
        return changed

    async def run(self) -> None:
        """Publish again and again; a failure is logged once and does not end it."""
        said = ""
        while True:
            try:
                await asyncio.to_thread(self.publish)
                said = ""
            except HubbubError as error:
                if said != str(error):
                    logging.getLogger(__name__).error("hubbub: the table of estimates is not renewed: %s", error)
                said = str(error)
            await asyncio.sleep(PUBLISH_SECONDS)
