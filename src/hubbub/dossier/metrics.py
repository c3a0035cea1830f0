"""What the dossier says about one metric."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from hubbub.definitions import COMES_TO, facts
from hubbub.dossier.example import example
from hubbub.dossier.text import bullets, code, document, fenced, plain, table
from hubbub.lock import Metric
from hubbub.privacy import describe, sections

_NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})
_SHOWN = {  # keys of a definition that the reader needs, in words
    "unit": "unit",
    "lower": "smallest value that is told apart",
    "upper": "largest value that is told apart",
    "step": "steps in which it is told",
    "buckets": "ranges that are told apart, all as wide",
    "categories": "answers that are told apart, beside none",
    "dimension": "coordinates",
    "coordinates": "names of the coordinates",
    "norm": "largest value of a coordinate, up or down",
    "mechanism": "mechanism that disguises it",
    "window": "told once for each",
    "starts": "from, a day in UTC",
    "expires": "until, not that day itself",
    "report_every": "a device's turn comes once in so many of these",
    "rotation": "group of metrics that take turns",
    "dimensions": "sent in the clear beside it",
    "min_reports": "figures from fewer reports are withheld",
}
_GIVES = {
    "boolean": "yes or no",
    "mean": "a number",
    "choice": "one of a list of answers",
    "histogram": "a number, of which the range it falls into is told",
    "words": "a word",
    "vector": "several numbers",
}
_EVENTS = {"count": "events, which are counted", "share": "yes or no at each event"}
_FIELDS = (
    ("`schema`", "the form of the body, the same for every device"),
    ("`id`", "made of the device's secret, metric and window; another one for each window, so ids link nothing"),
    ("`metric`, `hash`", "which definition, and the first half of its encoding hash; the same for every device"),
    ("`window`", "which stretch of time, as its number since 1970"),
    ("`segment`", "the public dimensions of the device, nothing where the metric has none"),
    ("`payload`", "the disguised answer, with the seed, row or cohort that it was drawn under where there is one"),
)


def common(metrics: Sequence[Metric]) -> dict[str, list[str]]:
    """Sentences that hold for each of several metrics, by heading; none where there is but one."""
    if len(metrics) < 2:
        return {}
    first, *others = (sections(metric) for metric in metrics)
    shared = {
        heading: [line for line in lines if all(line in other.get(heading, ()) for other in others)]
        for heading, lines in first.items()
    }
    return {heading: lines for heading, lines in shared.items() if lines}


def shared_section(metrics: Sequence[Metric]) -> Iterator[str]:
    """What is said once for all of them, and what the keys of a report are."""
    yield "A report is the body of one request, with these keys and no others:"
    yield table(("key", "what it holds"), _FIELDS)
    for heading, lines in common(metrics).items():
        yield f"**{heading}**"
        yield bullets(map(plain, lines))


def section(metric: Metric, collection: str, said: Mapping[str, Sequence[str]] = _NOTHING) -> str:
    """Purpose, data, an example's exact bytes, prices, and what they mean.

    Args:
        metric: Of the lock.
        collection: Its name.
        said: Sentences that were said for all metrics, by heading.
    """
    return document(
        [
            f"### {plain(metric.name)}",
            plain(metric.description),
            table(("", ""), _definition(metric)),
            "**What leaves a device**",
            *_bytes(metric, collection),
            "**What it costs one installation**",
            table(
                ("price of", "epsilon", "from even odds to", "compares"),
                ((line.label, line.nats, line.odds, plain(line.meaning)) for line in describe(metric)),
            ),
            *_sentences(metric, said),
        ]
    ).rstrip()


def _definition(metric: Metric) -> Iterator[tuple[str, str]]:
    known = facts(metric)
    yield "purpose", plain(metric.purpose)
    yield "owners", plain(", ".join(metric.owners))
    yield "the app gives", _gives(metric, known["fed by"])
    if known["aggregate"]:
        yield "the value is", COMES_TO[known["aggregate"]]
    for key, words in _SHOWN.items():
        if known.get(key) and not (key == "report_every" and known[key] == "1"):
            yield words, plain(known[key])
    filled = "filled in with the null" if metric.presence == "hidden" else "no report"
    yield "a window in which the program never ran", filled
    yield "accepted until after a window's end", f"{metric.grace // 3600} hours"
    yield "encoding hash", code(metric.hash)


def _gives(metric: Metric, source: str) -> str:
    if source:
        return f"nothing: it is yes where anything was recorded for {plain(source)}"
    return _EVENTS.get(metric.aggregate) or _GIVES[metric.kind]


def _bytes(metric: Metric, collection: str) -> Iterator[str]:
    shown = example(metric, collection)
    yield (
        f"An example: the body of the one request of a device whose value is {plain(shown.given)}. "
        "The secret behind it is 00 01 02 … 1f, which is no device's."
    )
    yield fenced(shown.body, "json")
    yield "How often a device draws exactly this payload, averaged over its permanent answers where it keeps any:"
    yield table(("value of the device", "chance of this payload"), ((plain(m), _share(c)) for m, c in shown.chances))


def _share(chance: float) -> str:
    return f"{chance:.2%}" if chance >= 1e-4 else f"{chance:.2g}"


def _sentences(metric: Metric, said: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for heading, lines in sections(metric).items():
        if own := [line for line in lines if line not in said.get(heading, ())]:
            yield f"**{heading}**"
            yield bullets(map(plain, own))
