"""The page of one metric: which windows of which segment and version it shows, and all that stands beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from hubbub.dashboard.overview import chosen, definitions, last_stop, leading, newest_shown
from hubbub.errors import ParameterError
from hubbub.estimates import Known, Period, Row, metrics, period, rows
from hubbub.estimates.active import AMONG
from hubbub.estimates.wording import Scale
from hubbub.lock import ACTIVE, Metric
from hubbub.mechanisms import of_metric
from hubbub.store import Store
from hubbub.store.catalogue import Definition
from hubbub.windows import iso, windows

WINDOWS = 90  # that are shown unless asked otherwise
MOST = 1000
SPANS: Mapping[str, tuple[int, ...]] = {"hour": (24, 90, 720), "day": (28, 90, 400), "week": (13, 26, 90)}
_RECENT = 8  # windows that decide which segment is shown unless asked otherwise


@dataclass(frozen=True)
class Wanted:
    """What a page is asked for.

    Attributes:
        segment: One; that with the most reports by default.
        category: One category or coordinate, where the metric has several; by default see `leading`. Of a mean with a
            second report, "among active" or, by default, all.
        version: One; by default all that measure the same as the newest.
        windows: How many.
        end: Where the last of them ends, unix seconds; the present by default.
    """

    segment: str | None = None
    category: str | None = None
    version: int | None = None
    windows: int = WINDOWS
    end: float | None = None


@dataclass(frozen=True)
class Detail:
    """What a page shows.

    Attributes:
        metric: The definition that its words are about: the version asked for, or the newest.
        other: The second metric of a mean with `active`, or the mean that such a metric belongs to; None elsewhere.
        versions: All there are, newest first.
        apart: Versions that measure something else and are left out.
        segment: The segment that is shown.
        segments: All there are, with the newest row of each that may be shown.
        category: The category or coordinate that is shown; None where the metric has one number.
        categories: All there are, with the newest row of each that may be shown; None among them is the mean of all
            beside that among the active.
        rows: In order of time.
        scale: How their numbers are written.
        mean: Of these windows together; None where none has ended.
        start: Where the first window may begin, unix seconds.
        stop: Where the last one ends.
        earlier: Whether reports lie before.
        later: Whether windows lie after.
    """

    wanted: Wanted
    metric: Metric
    other: Metric | None
    versions: Sequence[Known]
    apart: Sequence[Known]
    segment: str
    segments: Mapping[str, Row | None]
    category: str | None
    categories: Mapping[str | None, Row | None]
    rows: Sequence[Row]
    scale: Scale
    mean: Period | None
    start: int
    stop: int
    earlier: bool
    later: bool

    @property
    def cuts(self) -> dict[int, str]:
        """Windows of each version."""
        return {known.version: known.window for known in self.versions}

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest truth."""
        return of_metric(self.metric).bounds

    @property
    def latest(self) -> Row | None:
        """The newest row that may be shown."""
        return newest_shown(self.rows)

    @property
    def parts(self) -> tuple[str, str]:
        """What there are several of, in the singular and the plural, where the metric has more than one number."""
        names = {
            "mean": ("Mean", "All and among active"),
            "vector": ("Coordinate", "Coordinates"),
            "histogram": ("Bucket", "Buckets"),
        }
        return names.get(self.metric.kind, ("Category", "Categories"))

    @property
    def among(self) -> bool:
        """Whether it is the mean among those that recorded anything that is shown."""
        return self.metric.kind == "mean" and self.category == AMONG

    @property
    def beyond(self) -> Row | None:
        """The newest row of the other mean that may be shown: among the active beside that of all, or the reverse."""
        others = [row for label, row in self.categories.items() if label != self.category]
        return others[0] if None in self.categories else None

    @property
    def spans(self) -> tuple[int, ...]:
        """How many windows there are links for."""
        return SPANS[self.metric.window]

    def address(self, **changes: object) -> str:
        """This page, with these parameters changed; None takes one away."""
        wanted = self.wanted
        asked: dict[str, object] = {"segment": wanted.segment, "category": wanted.category, "version": wanted.version}
        asked["windows"] = None if self.wanted.windows == WINDOWS else self.wanted.windows
        asked["end"] = None if self.wanted.end is None else iso(self.stop)
        return _link(self.metric.name, {**asked, **changes})

    def beside(self, **changes: object) -> str:
        """The page of the other metric, with the same segment."""
        return _link(self.other.name, {"segment": self.wanted.segment, **changes}) if self.other else ""

    def data(self, suffix: str = "") -> str:
        """The rows that are shown, for programs: as JSON, or with the suffix of a file."""
        asked: dict[str, object] = {"start": iso(self.start), "end": iso(self.stop), "segment": self.segment}
        if self.categories:
            asked["category"] = self.category or ""
        if self.wanted.version is not None or self.apart:
            asked["version"] = self.metric.version
        return f"/v1/metrics/{self.metric.name}/estimates{suffix}?{urlencode(asked)}"

    def before(self) -> str:
        """The windows before these."""
        return self.address(end=iso(self.start))

    def after(self) -> str:
        """The windows after these."""
        return self.address(end=iso(self.stop + self.stop - self.start))


def detail(store: Store, now: float, name: str, wanted: Wanted) -> Detail | None:
    """What the page of a metric shows; None if the store knows no such metric.

    Raises:
        ParameterError: A segment or version that the metric does not have.
        StoreError: The store cannot be read.
    """
    versions = [known for known in metrics(store) if known.name == name]
    if not versions:
        return None
    asked = _asked(versions, wanted.version)
    subject = asked[0]
    declared = list(dict.fromkeys(segment for known in asked for segment in known.segments))
    if wanted.segment is not None and wanted.segment not in declared:
        raise ParameterError("segment", wanted.segment, "one of " + ", ".join(map(repr, declared)))
    cut, last = windows(subject.window), last_stop(asked, now)
    stop = last if wanted.end is None else min(last, cut.start(cut.index(wanted.end)))
    start = stop - wanted.windows * cut.length

    def of(segment: str | None, begin: int) -> list[Row]:
        versions = {version.version for version in asked}
        found = rows(store, now=now, metric=name, start=begin, end=stop, segment=segment)
        return sorted(
            (row for row in found if row.version in versions), key=lambda row: (row.window_start, row.version)
        )

    known = definitions(store)
    metric = known[name, subject.version]
    other = _other(known, [known[name, version.version] for version in asked])
    names = (None, AMONG) if metric.kind == "mean" and other else Definition(metric).categories
    if wanted.category is not None and wanted.category not in names:
        labels = ", ".join(filter(None, names))
        raise ParameterError("category", wanted.category, f"one of {labels}" if names else "left out")
    recent = of(None, stop - min(_RECENT, wanted.windows) * cut.length) if len(declared) > 1 else []
    segment = wanted.segment if wanted.segment is not None else chosen(recent, declared)
    every = of(segment, start)
    category = wanted.category if wanted.category is not None else leading(subject.kind, every)
    shown = [row for row in every if row.category == category]
    return Detail(
        wanted=wanted,
        metric=metric,
        other=other,
        versions=versions,
        apart=[known for known in versions if known not in asked] if wanted.version is None else [],
        segment=segment,
        segments={label: newest_shown(_of(recent, label, category)) for label in declared},
        category=category,
        categories={label: newest_shown(_of(every, segment, label)) for label in names},
        rows=shown,
        scale=Scale.of(subject.kind, subject.unit, shown),
        mean=_mean(store, now, name, (segment, category), shown, start, stop),
        start=start,
        stop=stop,
        earlier=_first(store, versions) < start,
        later=stop < last,
    )


def _other(known: Mapping[tuple[str, int], Metric], asked: Sequence[Metric]) -> Metric | None:
    """The metric that goes together with the newest of these that has one."""
    for metric in asked:
        for one in sorted(known.values(), key=lambda one: -one.version):
            second, first = (one, metric) if one.source else (metric, one)
            if second.source == first.hash and second.name == first.name + ACTIVE:
                return one
    return None


def _link(name: str, asked: Mapping[str, object]) -> str:
    kept = {key: value for key, value in asked.items() if value is not None}
    return f"/m/{name}" + (f"?{urlencode(kept)}" if kept else "")


def _of(found: Sequence[Row], segment: str, category: str | None) -> list[Row]:
    return [row for row in found if (row.segment, row.category) == (segment, category)]


def _asked(versions: Sequence[Known], version: int | None) -> list[Known]:
    """The version that is asked for; else all that measure the same as the newest."""
    if version is None:
        same = (versions[0].kind, versions[0].unit)
        return [known for known in versions if (known.kind, known.unit) == same]
    found = [known for known in versions if known.version == version]
    if not found:
        raise ParameterError("version", version, "one of " + ", ".join(str(known.version) for known in versions))
    return found


def _mean(
    store: Store,
    now: float,
    name: str,
    place: tuple[str, str | None],
    shown: Sequence[Row],
    start: int,
    stop: int,
) -> Period | None:
    """The mean of the newest encoding's windows."""
    reported = [row.version for row in shown if row.n] or [row.version for row in shown]
    if not reported:
        return None
    try:
        return period(
            store,
            now=now,
            metric=name,
            start=start,
            end=stop,
            segment=place[0],
            category=place[1],
            version=max(reported),
        )
    except ParameterError:  # none of its windows has ended
        return None


def _first(store: Store, versions: Sequence[Known]) -> float:
    """Where the first window with reports begins, unix seconds."""
    cuts = {known.hash: windows(known.window) for known in versions}
    return min((cuts[key.hash].start(key.window) for key in store.windows(versions[0].name)), default=float("inf"))
