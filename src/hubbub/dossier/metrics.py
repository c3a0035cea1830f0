"""What the dossier says about one metric."""

from collections.abc import Iterator, Mapping

from hubbub.client.showing import drawn_openly
from hubbub.definitions import COMES_TO, facts
from hubbub.dossier.example import Example, example
from hubbub.dossier.sharing import NOTHING, Rows, Shared
from hubbub.dossier.text import bullets, document, fenced, plain, table
from hubbub.lock import Metric
from hubbub.privacy import null

_SHOWN = {  # keys of a definition that the reader needs, in words
    "categories": "answers that are told apart, beside none",
    "dimension": "coordinates",
    "coordinates": "names of the coordinates",
    "norm": "largest value of a coordinate, up or down",
    "mechanism": "mechanism that disguises it",
    "window": "told once for each",
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


def rows(metric: Metric) -> Rows:
    """What the definition says, as rows of a table."""
    return tuple(_rows(metric))


def reports(found: Shared) -> Iterator[str]:
    """What the keys of a report are, what is sent, and what all definitions have in common."""
    yield "A report is the body of one request, with these keys and no others:"
    yield table(("key", "what it holds"), _FIELDS)
    yield bullets(found.lines("What is sent"))
    if found.rows:
        yield "The same for each metric:"
        yield table(("", ""), found.rows)


def examples() -> str:
    """What the examples are, said once above them."""
    return (
        "Each with an example: the body of the one request of a device whose secret is 00 01 02 … 1f, which is no "
        "device's. Below it stands how often devices with some values send exactly this payload, over all secrets and "
        "all noise; where fewer than one in a thousand do, beside a device with the example's value."
    )


def section(metric: Metric, collection: str, found: Shared = NOTHING) -> str:
    """Purpose, data, an example's exact bytes, and what holds for this metric alone.

    Args:
        metric: Of the lock.
        collection: Its name.
        found: What is said once for several metrics.
    """
    shown = example(metric, collection)
    return document(
        [
            f"### {plain(metric.name)}",
            plain(metric.description),
            table(("", ""), [row for row in rows(metric) if row not in found.rows]),
            f"An example ({plain(shown.given)}):",
            fenced(shown.body, "json"),
            *_clear(metric, shown),
            _often(shown),
            *_sentences(metric, found),
        ]
    ).rstrip()


def _rows(metric: Metric) -> Iterator[tuple[str, str]]:
    known = facts(metric)
    yield "the app gives", _gives(metric, known["fed by"])
    if known["aggregate"]:
        yield "the value is", COMES_TO[known["aggregate"]]
    if "lower" in known:
        yield "values that are told apart", plain(_range(known))
    for key, words in _SHOWN.items():
        if known.get(key) and not (key == "report_every" and known[key] == "1"):
            yield words, plain(known[key])
    filled = f"reported as {null(metric)} once it runs again" if metric.presence == "hidden" else "no report"
    yield "a window in which the program never ran", filled
    yield "accepted until after a window's end", f"{metric.grace // 3600} hours"


def _gives(metric: Metric, source: str) -> str:
    if source:
        return f"nothing: it is yes where anything was recorded for {plain(source)}"
    return _EVENTS.get(metric.aggregate) or _GIVES[metric.kind]


def _range(known: Mapping[str, str]) -> str:
    whole = f"{known['lower']} to {known['upper']} {known['unit']}".rstrip()
    if "buckets" in known:
        return f"{whole}, in {known['buckets']} ranges, all as wide"
    return f"{whole}, in steps of {known['step']}"


def _clear(metric: Metric, shown: Example) -> Iterator[str]:
    if shown.clear:
        yield f"In the clear in this payload: {' '.join(map(str, shown.clear))}; {drawn_openly(metric.encoder)}."


def _often(shown: Example) -> str:
    by = ", beside a device with this value, is sent by one with " if shown.seldom else " is sent by a device with "
    return f"This payload{by}" + "; ".join(f"{plain(value)}: {said}" for value, said in shown.often) + "."


def _sentences(metric: Metric, found: Shared) -> Iterator[str]:
    for heading, lines in found.own(metric):
        yield f"**{heading}**"
        yield bullets(lines)
