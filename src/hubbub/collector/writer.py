"""Group commit: reports of many requests in one transaction, one transaction at a time."""

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from hubbub.store import Outcome, Report, Store, StoreError

MAX_GROUP = 20_000  # reports in one transaction, unless one request alone holds more
MAX_WAITING = 100_000  # reports that may wait for theirs, those of the running one included
COUNT_SECONDS = 5.0  # after which counts are stored although no report takes them along

_Waiting = tuple[Sequence[Report], "asyncio.Future[list[Outcome]]"]


class Writer:
    """Writes to the store from one thread; whatever arrives during a transaction shares the next."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, "hubbub-store")
        self._waiting: deque[_Waiting] = deque()
        self._reports = 0
        self._tally: Counter[str] = Counter()
        self._problems: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def note(self, code: str) -> None:
        """Count a report that was refused; the next transaction takes the count along, or one of its own soon."""
        self._tally[code] += 1
        self._store_counts_soon()

    def note_problem(self, code: str) -> None:
        """Count a request that was refused as a whole, likewise."""
        self._problems[code] += 1
        self._store_counts_soon()

    async def write(self, reports: Sequence[Report]) -> list[Outcome]:
        """What became of each report; on return, that is durable.

        Raises:
            StoreError: The store cannot be written, or is too far behind; nothing is kept.
        """
        if self._reports + len(reports) > MAX_WAITING:
            raise StoreError(f"{self._reports} reports are waiting to be stored")
        return await self._submit(reports)

    async def close(self) -> None:
        """Finish what is waiting, keep the counts if that is still possible, end the thread."""
        if self._timer is not None:
            self._timer.cancel()
        while self._task is not None:
            await asyncio.wait((self._task,))
        if self._tally or self._problems:
            with suppress(StoreError):
                await self.write(())
        self._thread.shutdown()

    def _submit(self, reports: Sequence[Report]) -> "asyncio.Future[list[Outcome]]":
        future: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        self._waiting.append((reports, future))
        self._reports += len(reports)
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return future

    def _store_counts_soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(COUNT_SECONDS, self._store_counts)

    def _store_counts(self) -> None:
        self._timer = None
        if self._tally or self._problems:
            self._submit(()).add_done_callback(lambda future: future.exception())  # if it fails, they wait on

    async def _run(self) -> None:
        try:
            while self._waiting:
                await self._commit(self._group())
        finally:
            self._task = None

    def _group(self) -> list[_Waiting]:
        group: list[_Waiting] = []
        size = 0
        while self._waiting and (not group or size + len(self._waiting[0][0]) <= MAX_GROUP):
            group.append(self._waiting.popleft())
            size += len(group[-1][0])
        return group

    async def _commit(self, group: list[_Waiting]) -> None:
        reports = [report for part, _ in group for report in part]
        tally, self._tally = self._tally, Counter()
        problems, self._problems = self._problems, Counter()
        loop = asyncio.get_running_loop()
        try:
            outcomes = await loop.run_in_executor(self._thread, self._store.write, reports, tally, problems)
        except Exception as error:  # whatever it was, nobody may be left waiting
            self._tally += tally
            self._problems += problems
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
        else:
            start = 0
            for part, future in group:
                if not future.done():
                    future.set_result(outcomes[start : start + len(part)])
                start += len(part)
        finally:
            self._reports -= len(reports)
