"""Changes that one can picture: a move for good, and values that stay close together, in the metric's unit."""

from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.lock import Metric
from hubbub.privacy.changes import most_visible, percent_of, visible
from hubbub.privacy.confined import confined
from hubbub.privacy.prices import keeps, of_life
from hubbub.privacy.words import a, in_words, nats

MOVES = {
    "boolean": "from no to yes",
    "mean": "from one end of the range to the other",
    "choice": "from one answer to another",
    "histogram": "from one bucket to another",
    "words": "from one word to another",
    "vector": "from one vector to another",
}
_RATES = ("sum", "count")  # what values of one window come to that is so much in each of them
_CLOSE = 10  # values stay within this part of the range
LONGEST = 200  # characters of a sentence


def pictures(metric: Metric) -> list[str]:
    """Sentences of less than 200 characters: how many devices a move for good ever shows on, and small changes."""
    last = metric.encoder.size - 1
    short = of_life(metric).steady < metric.prices.steady  # too few reports for a change to show in time
    if metric.reports == 1 or short:
        return []
    move = MOVES[metric.kind]
    if metric.kind == "mean":
        move = f"from {amount(metric, 0)} to {amount(metric, last)}{each(metric)}"
    move = f"{move[0].upper()}{move[1:]} for good"
    if not metric.encoder.memo:
        return [f"{move}: each report after it tells more of it, on every device, as nothing is kept to hide it."]
    if metric.kind in ("boolean", "mean"):
        share, alike = visible(metric.encoder, 0, last), True
    else:
        share, alike = most_visible(metric.encoder) or (None, True)
    if share is None:
        return []
    most = "" if alike else "at most "
    shown = f"{move}: visible in time on {most}{percent_of(share)} of devices, on others never by this metric"
    third = round(last / 3)
    part = visible(metric.encoder, 0, third) if metric.kind == "mean" and 0 < third < last else None
    tail = f"; from {amount(metric, 0)} to {amount(metric, third)} on {percent_of(part)}." if part else "."
    fits = len(shown + tail) < LONGEST  # numbers of many digits are not shown four times
    return [shown + (tail if fits else "."), *_close(metric)]


def _close(metric: Metric) -> list[str]:
    encoder = metric.encoder
    if not (isinstance(encoder, OneBitMean) and keeps(metric)) or (width := encoder.ticks // _CLOSE) < 1:
        return []
    found = confined(encoder, width, width)
    if found.delta >= 1 or found.epsilon >= of_life(metric).life:
        return []
    within = amount(metric, width, 0) + (f" {metric.unit}" if metric.unit else "")
    return [
        f"Two devices whose values each stay within {within} for ever: epsilon {nats(found.epsilon)}, "
        f"{in_words(found.epsilon)}, save for a chance of at most {percent_of(found.delta)}."
    ]


def amount(metric: Metric, value: int, lower: int | None = None) -> str:
    """A value of the encoder in the unit, as a decimal number."""
    from hubbub.definitions.checks import decimal  # which imports this package

    return decimal((metric.lower if lower is None else lower) + value * metric.step)


def each(metric: Metric) -> str:
    """What follows an amount: its unit, and of what window."""
    if metric.unit and metric.aggregated in _RATES:
        return f" {metric.unit} {a(metric.window)}"
    return f" {metric.unit} in each {metric.window}" if metric.unit else f" in each {metric.window}"
