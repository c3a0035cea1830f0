"""Pages for people: the list of metrics, and one page for each of them. They work without a script, and print."""

import json
import math
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from hubbub.clock import Clock
from hubbub.dashboard import chart, drawing, formats, series
from hubbub.dashboard.assets import PREFIX, Assets
from hubbub.dashboard.detail import Detail, Wanted, detail
from hubbub.dashboard.overview import ago, life, names, overview
from hubbub.dashboard.queries import LIST, PAGE, invalid, parameters
from hubbub.dashboard.refusing import Refusing
from hubbub.errors import HubbubError, ParameterError
from hubbub.estimates import Known, metrics
from hubbub.estimates.active import AMONG
from hubbub.lock import shown
from hubbub.privacy import describe, nats, sections
from hubbub.privacy.prices import of_life
from hubbub.serving.problems import RequestError
from hubbub.store import Store
from hubbub.windows import iso

AT_ONCE = 50  # metrics on one page of the list
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
_TITLES = {400: "That cannot be asked", 404: "Not found", 405: "Not allowed", 503: "Not available now"}


class Pages:
    """What people are answered.

    Args:
        store: Where the summaries are.
        clock: What decides which windows are open, provisional or final.
        ingest: Where devices post, for those who have no reports yet.
    """

    def __init__(self, store: Store, clock: Clock, ingest: str) -> None:
        self._store = store
        self._clock = clock
        self._ingest = ingest
        self._assets = Assets()
        self._templates = Environment(
            loader=PackageLoader("hubbub.dashboard"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(
            asset=self._assets.url,
            integrity=self._assets.integrity,
            vega=self._assets.vega,
            glyph=drawing.glyph,
            swatch=drawing.swatch,
            formats=formats,
            among=AMONG,
            dev=store.dev,
        )

    def routes(self) -> list[Route]:
        """Where it answers."""
        return [
            Route("/", self._list),
            Route("/m/{name}", self._metric),
            Route(PREFIX + "{file}", self._assets.serve),
        ]

    def problem(self, request: Request, status: int, sentence: str) -> Response:
        """The page of what cannot be answered."""
        try:
            now = iso(math.floor(self._clock.now()))
        except HubbubError:
            now = None
        title = _TITLES.get(status, "That did not work")
        return self._page("problem.html", status, now=now, title=title, sentence=sentence)

    def _list(self, request: Request) -> Response:
        asked = parameters(request, LIST)
        part, page = asked.get("q", "").strip(), asked.get("page", 1)
        with Refusing():
            now = self._clock.now()
            versions = metrics(self._store)
            found = names(versions, part)
            pages = max(1, -(-len(found) // AT_ONCE))
            if page > pages:
                raise invalid(ParameterError("page", page, f"an integer in [1, {pages}]"))
            entries = overview(self._store, now, versions, found[(page - 1) * AT_ONCE : page * AT_ONCE])
        return self._page(
            "list.html",
            now=iso(math.floor(now)),
            entries=entries,
            part=part,
            page=page,
            pages=pages,
            found=len(found),
            known=len(names(versions)),
            silent=bool(entries) and not any(entry.state for entry in entries),
            example=next((entry.known for entry in entries if entry.running), None),
            dimensions=_dimensions(versions),
            ingest=self._ingest,
        )

    def _metric(self, request: Request) -> Response:
        wanted = Wanted(**{name: value for name, value in parameters(request, PAGE).items() if value is not None})
        with Refusing():
            now = self._clock.now()
            try:
                found = detail(self._store, now, request.path_params["name"], wanted)
            except ParameterError as error:
                raise invalid(error) from None
        if found is None:
            raise RequestError(404, "unknown_metric", "The store knows no metric of this name.")
        return self._page("metric.html", now=iso(math.floor(now)), **_shown(found, now))

    def _page(self, template: str, status: int = 200, **content: Any) -> Response:
        text = self._templates.get_template(template).render(content, status=status)
        return HTMLResponse(text, status, {"content-security-policy": POLICY})


def _dimensions(versions: Sequence[Known]) -> str:
    """What a client is given for the dimensions of all metrics, as Python; empty where there are none."""
    values = {name: labels[0] for known in versions for name, labels in known.dimensions}
    return json.dumps(values) if values else ""


def _together(found: Detail) -> list[str]:
    """What one report, and a device that never changes, give away with those of the other metric."""
    if found.other is None:
        return []
    pairs = zip(of_life(found.metric), of_life(found.other), strict=True)
    sums = {line.key: shown(math.fsum(pair)) for line, pair in zip(describe(found.metric), pairs, strict=True)}
    return [formats.epsilon(nats(math.inf if sum_ is None else sum_)) for sum_ in (sums["report"], sums["steady"])]


def _shown(found: Detail, now: float) -> dict[str, Any]:
    """All that the template of a metric needs."""
    marks = series.marks(found.rows, found.scale)
    shapes = [shape for shape in series.MARKS if any(mark.shape == shape for mark in marks)]
    begin, end = life([known for known in found.versions if found.wanted.version in (None, known.version)])

    def plain(width: int) -> Markup:
        whole = width == drawing.WIDE  # without the year where there is little room; the table has it
        return drawing.plot(marks, found.scale, found.bounds, lambda mark: label(mark)[0 if whole else 5 :], width)

    def label(mark: series.Mark) -> str:
        return formats.when(found.cuts[mark.row.version], mark.row.window_start)

    return {
        "found": found,
        "metric": found.metric,
        "scale": found.scale,
        "rows": list(reversed(found.rows)),
        "latest": found.latest,
        "ago": ago(found.latest, found.cuts[found.latest.version], now) if found.latest else "",
        "begins": iso(begin)[:10] if now < begin else "",
        "ended": iso(end)[:10] if end <= now else "",
        "spec": chart.spec(found.rows, found.scale, cuts=found.cuts, bounds=found.bounds),
        "plain": [plain(drawing.WIDE), plain(drawing.NARROW)],
        "legend": [(shape, series.MARKS[shape]) for shape in shapes],
        "lines": series.surprising(marks, found.bounds),
        "encodings": series.encodings(marks),
        "several": len({row.version for row in found.rows}) > 1,
        "prices": describe(found.metric),
        "sections": sections(found.metric, found.other),
        "together": _together(found),
        "limits": formats.limits(found.metric, found.scale, found.rows, among=found.among),
    }
