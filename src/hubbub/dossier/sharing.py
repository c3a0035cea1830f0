"""What holds for several metrics and is said once."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hubbub.dossier.text import plain
from hubbub.lock import Metric
from hubbub.privacy import partner, sections

Rows = tuple[tuple[str, str], ...]


class Shared(NamedTuple):
    """Sentences of `explain` that hold for several metrics, or for the only one, and the rows that all of them have.

    Attributes:
        sentences: By heading, each with the names of the metrics for which it holds, in the order of `explain`.
        rows: Of each definition, as Markdown.
        names: Of all metrics.
        told: By name all sentences of `explain` under their headings.
    """

    sentences: Mapping[str, Mapping[str, Sequence[str]]]
    rows: Rows
    names: Sequence[str]
    told: Mapping[str, Mapping[str, Sequence[str]]]

    def lines(self, heading: str) -> Iterator[str]:
        """The sentences under a heading, with the metrics for which they hold where these are not all."""
        for sentence, names in self.sentences.get(heading, {}).items():
            yield plain(sentence) + self._whose(names)

    def _whose(self, names: Sequence[str]) -> str:
        others = [name for name in self.names if name not in names]
        if not others:
            return ""
        return f" ({plain(', '.join(names) if len(names) <= len(others) else 'all but ' + ', '.join(others))})"

    def own(self, metric: Metric) -> Iterator[tuple[str, list[str]]]:
        """Headings with the sentences that hold for this metric alone."""
        for heading, lines in (self.told.get(metric.name) or sections(metric)).items():
            said = self.sentences.get(heading, {})
            if left := [plain(line) for line in lines if line not in said]:
                yield heading, left


NOTHING = Shared({}, (), (), {})


def shared(metrics: Sequence[Metric], rows: Sequence[Rows]) -> Shared:
    """What the metrics have in common.

    Args:
        metrics: Of one lock.
        rows: What there is to say about the definition of each.
    """
    found: dict[str, dict[str, list[str]]] = {}
    known = {metric.name: metric for metric in metrics}
    told = {name: sections(metric, partner(metric, known)) for name, metric in known.items()}
    for name, headings in told.items():
        for heading, lines in headings.items():
            for line in lines:
                found.setdefault(heading, {}).setdefault(line, []).append(name)
    enough = min(2, len(metrics))
    sentences = {
        heading: {line: names for line, names in lines.items() if len(names) >= enough}
        for heading, lines in found.items()
    }
    common = tuple(row for row in rows[0] if all(row in other for other in rows)) if len(rows) > 1 else ()
    return Shared(sentences, common, list(known), told)


def linkage(metric: Metric) -> tuple[float, float]:
    """Bits that a report tells about the device's next: in the clear, its turn among them, and beyond that at most."""
    return metric.encoder.public_bits + math.log2(metric.report_every), metric.encoder.linkage_bits


def shufflers(metrics: Iterable[Metric]) -> Mapping[str, Sequence[str]]:
    """Who mixes reports on the way, as the owners declare, with the names of the metrics whose reports these are."""
    found: dict[str, list[str]] = {}
    for metric in metrics:
        if metric.shuffler:
            found.setdefault(metric.shuffler, []).append(metric.name)
    return found
