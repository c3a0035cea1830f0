"""Metrics and their estimates for programs: JSON, CSV, Parquet, counters, the description of the interface."""

import io
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from hubbub.clock import Clock
from hubbub.dashboard.counting import Counters
from hubbub.dashboard.queries import ROWS, invalid, parameters
from hubbub.dashboard.refusing import Refusing
from hubbub.errors import ParameterError
from hubbub.estimates import Known, Period, Row, files, metrics, period, rows
from hubbub.serving import contract
from hubbub.serving.problems import RequestError
from hubbub.store import Store
from hubbub.windows import iso, midnight, windows


class Api:
    """What programs are answered.

    Args:
        store: Where the summaries are.
        clock: What decides which windows are open, provisional or final.
        description: The description of the interface, as JSON.
    """

    def __init__(self, store: Store, clock: Clock, description: bytes) -> None:
        self._store = store
        self._clock = clock
        self._description = description
        self._counters = Counters(store)

    def routes(self) -> list[Route]:
        """Where it answers."""
        return [
            Route("/v1/metrics", self._metrics),
            Route("/v1/metrics/{name}/estimates", self._estimates),
            *(Route(f"/v1/metrics/{{name}}/estimates.{suffix}", self._file(suffix)) for suffix in contract.FILES),
            Route("/v1/metrics/{name}/mean", self._mean),
            Route("/metrics", self._counted),
            Route("/openapi.json", self._described),
            Route("/healthz", self._health),
            Route("/readyz", self._ready),
        ]

    def _metrics(self, request: Request) -> Response:
        parameters(request, {})
        with Refusing():
            now = self._clock.now()
            return _json([self._listed(known, now) for known in metrics(self._store)])

    def _estimates(self, request: Request) -> Response:
        return _json(self._asked(request, self._rows))

    def _file(self, suffix: str) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            found = self._asked(request, self._rows)
            named = {"content-disposition": f'attachment; filename="{request.path_params["name"]}.{suffix}"'}
            if suffix == "csv":
                return StreamingResponse(files.csv_pieces(found), headers=named, media_type=contract.FILES[suffix])
            file = io.BytesIO()
            files.write(found, file, suffix)  # loads pandas and pyarrow, 90 MB: only for those who ask
            return Response(file.getvalue(), headers=named, media_type=contract.FILES[suffix])

        return answer

    def _mean(self, request: Request) -> Response:
        return _json(self._asked(request, self._period))

    def _counted(self, request: Request) -> Response:
        with Refusing():
            return Response(self._counters.text(), media_type=contract.PROMETHEUS)

    def _described(self, request: Request) -> Response:
        return Response(self._description, media_type="application/json")

    async def _health(self, request: Request) -> Response:
        return _json(contract.Health("alive", contract.mode_of(self._store)))

    def _ready(self, request: Request) -> Response:
        with Refusing():
            self._store.locks()
        return _json(contract.Health("ready", contract.mode_of(self._store)))

    def _asked(self, request: Request, ask: Callable[..., Any]) -> Any:
        name, wanted = request.path_params["name"], parameters(request, ROWS)
        with Refusing():
            now = self._clock.now()
            if all(known.name != name for known in metrics(self._store)):
                raise RequestError(404, "unknown_metric", "the store knows no metric of this name")
            try:
                return ask(self._store, now=now, metric=name, **wanted)
            except ParameterError as error:
                if error.name == "metric":
                    raise RequestError(404, "no_windows", "no window of this metric has ended in this span") from None
                raise invalid(error) from None

    @staticmethod
    def _rows(
        store: Store, *, metric: str, version: int | None = None, category: str | None = None, **wanted: Any
    ) -> list[Row]:
        known = [known.version for known in metrics(store) if known.name == metric]
        if version is not None and version not in known:
            raise ParameterError("version", version, "one of " + ", ".join(map(str, known)))
        found = rows(store, metric=metric, **wanted)
        return [row for row in found if version in (None, row.version) and category in (None, row.category or "")]

    @staticmethod
    def _period(store: Store, *, category: str | None = None, **wanted: Any) -> Period:
        return period(store, category=category or None, **wanted)

    def _listed(self, known: Known, now: float) -> contract.Listed:
        cut = windows(known.window)
        window = min(cut.index(now), cut.inside(midnight(known.starts), midnight(known.expires)).stop) - 1
        start, end = cut.start(window), cut.end(window)
        found = [
            row
            for row in rows(self._store, now=now, metric=known.name, start=start, end=end)
            if (row.hash, row.version) == (known.hash, known.version)
        ]
        states = {row.segment: row.state for row in found}
        last = contract.Last(iso(start), iso(end), states) if states else None
        return contract.Listed(**msgspec.structs.asdict(known), last=last)


def _json(answer: Any) -> Response:
    return Response(msgspec.json.encode(answer), media_type="application/json")
