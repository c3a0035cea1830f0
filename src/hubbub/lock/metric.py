"""One metric as devices encode it, and what follows from it; with the limits of what a metrics.lock may hold."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from hubbub.encoders.base import Encoder, Prices
from hubbub.prf import encoding_hash
from hubbub.windows import Windows, midnight, windows

KINDS = ("boolean", "mean", "choice", "histogram", "words", "vector")
SHARES = ("boolean", "choice", "histogram", "words")  # kinds whose numbers are shares of devices
COLLECTION = re.compile(r"[a-z][a-z0-9_-]{0,63}")
NAME = re.compile(r"(?=.{1,64}\Z)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
DIMENSION = re.compile(r"[a-z][a-z0-9_]{0,31}")
ROTATION = re.compile(r"([a-z][a-z0-9_]{0,31}:(0|[1-9][0-9]{0,2}))?")
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
AGGREGATES: Mapping[str, tuple[str, ...]] = {  # what several values in one window come to; the first unless stated
    "boolean": ("any", "all", "last"),
    "mean": ("sum", "count", "max", "last", "share"),
    "choice": ("last", "first", "most"),
    "histogram": ("sum", "count", "max", "last", "share"),
    "words": ("last",),
    "vector": ("sum", "last"),
}
ACTIVE = ".active"  # ends the name of a yes/no that tells whether anything was recorded for the metric before it
PRESENCES = ("ran", "hidden")  # windows in which the program never ran: left out, or filled in with the null
NONE = "none"  # value 0 of every choice: nothing to report, or nothing that has a label
MILLION = 1_000_000  # lower and step are kept in millionths of the unit
MAX_LIFE = 400 * 86_400  # seconds between starts and expires
MAX_CELLS = 64  # segments of one metric
MIN_GRACE, MAX_GRACE = 3600, 90 * 86_400  # seconds
MAX_EVERY = 400
MAX_FILLED, MAX_FILLED_BYTES = 500, 1 << 19  # windows filled in at one time and their bodies: half of an outbox
MAX_INTEGER = 2**53 - 1
MAX_TEXT = 1000  # characters of a description or purpose
MAX_SHUFFLER = 100


@dataclass(frozen=True)
class Metric:
    """One metric as devices encode it; `lower` and `step` in millionths of the unit, `grace` in seconds."""

    name: str
    version: int
    kind: str
    encoder: Encoder
    lower: int
    step: int
    unit: str
    labels: tuple[str, ...]
    window: str
    starts: str
    expires: str
    grace: int
    report_every: int
    rotation: str
    presence: str
    seal: str
    dimensions: tuple[tuple[str, tuple[str, ...]], ...]
    min_reports: int
    description: str
    purpose: str
    owners: tuple[str, ...]
    aggregate: str = ""  # empty: the first of its kind
    source: str = ""  # encoding hash of the metric that feeds it, whose name is this one's without `ACTIVE`
    shuffler: str = ""  # who mixes the reports on the way, by the owners' declaration; no price counts on it

    @cached_property
    def hash(self) -> str:
        """Encoding hash, 64 hex digits: all that shapes a report's law or its meaning, and nothing else."""
        return encoding_hash(
            ":".join(filter(None, (self.kind, self.aggregate, self.source))),  # as it was before there were others
            self.encoder.name,
            *self.encoder.canonical(),
            self.lower,
            self.step,
            *self.labels,
            self.window,
            self.report_every,
            self.rotation,
            self.presence,
            self.seal,
        )

    @property
    def aggregated(self) -> str:
        """What several values in one window come to."""
        return self.aggregate or AGGREGATES[self.kind][0]

    @property
    def shares(self) -> bool:
        """Whether its numbers are shares of devices, and no amounts in a unit."""
        return self.kind in SHARES

    @property
    def windows(self) -> Windows:
        """How time is cut for this metric."""
        return windows(self.window)

    @property
    def life(self) -> range:
        """Windows that may be reported: those wholly inside [starts, expires)."""
        return self.windows.inside(midnight(self.starts), midnight(self.expires))

    @property
    def reports(self) -> int:
        """Most reports that one device sends in the metric's life."""
        return -(-len(self.life) // self.report_every)

    @property
    def filled(self) -> int:
        """Most windows that a device fills in at one time: those that it missed and can still report."""
        seconds = self.windows.length * self.report_every
        return -(-self.grace // seconds) if self.presence == "hidden" else 0

    @property
    def body(self) -> int:
        """Most bytes in which one report without a segment travels."""
        return 180 + len(self.name) + -(-sum((radix - 1).bit_length() for radix in self.encoder.radices) // 8) * 2

    @property
    def group(self) -> str:
        """The group of metrics that it takes turns with; empty where it takes none."""
        return self.rotation.partition(":")[0]

    @property
    def rank(self) -> int:
        """By how many windows its turn comes after that of the first in its group; 0 where it has none."""
        return int(self.rotation.partition(":")[2] or 0)

    @property
    def prices(self) -> Prices:
        """What one installation gives away, in nats, recomputed from the integers."""
        return self.encoder.prices(self.reports)

    @property
    def segments(self) -> tuple[str, ...]:
        """Every segment, values joined by `/` in the order of the dimensions; one empty segment without dimensions."""
        return tuple("/".join(cell) for cell in product(*(values for _, values in self.dimensions)))
