"""A preview as people and programs read it. Nothing here holds the secret."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from hubbub.client.reporter import Preview
from hubbub.encoders.vector import of_vectors
from hubbub.lock import MILLION, NONE, Metric
from hubbub.wire import pack

_SELDOM = Fraction(1, 100)  # chances below are printed as ratios
_CLIPPED = "what lies outside is clipped"
_OUTSIDE = {
    "boolean": "anything but yes or no is not recorded",
    "choice": "any other label is not recorded",
    "histogram": "what lies outside counts in the first or last",
    "words": "a hash of its letters",
}
_ANOTHER = 1  # a value that is no word's, as good as certainly, and stands for any other word


def preview_plain(metric: Metric, preview: Preview) -> dict[str, Any]:
    """A preview in plain types."""
    return {
        "metric": metric.name,
        "value": preview.value if metric.kind != "vector" else list(_steps(metric, preview.value)),
        "meaning": _meaning(metric, preview.value),
        "permanent": _permanent(metric),
        "answer": list(preview.answer),
        "payload": pack(preview.payload, metric.encoder.radices),
        "chances": {
            _number(metric, value): float(_chance(metric, value, preview.payload))
            for value in _compared(metric, preview.value)
        },
    }


def preview_text(metric: Metric, given: str, preview: Preview) -> str:
    """A preview in words."""
    if metric.kind == "vector":
        place = f"steps {_number(metric, preview.value)} of 0 to {of_vectors(metric.encoder).ticks}"
    else:
        place = f"number {preview.value} of 0 to {metric.encoder.size - 1}"
    answer = " ".join(map(str, preview.answer))
    kept = (
        f"permanent answer  {answer}: drawn once from this installation's secret, kept for ever in place of the value"
        if _permanent(metric)
        else "permanent answer  none: each report of this metric is drawn afresh from the value"
    )
    lines = [
        f"{metric.name} = {given}. Nothing is recorded or sent by looking.",
        "",
        f"value             {_meaning(metric, preview.value)} ({place}; {_OUTSIDE.get(metric.kind, _CLIPPED)})",
        kept,
        f"bytes to send     {pack(preview.payload, metric.encoder.radices)}: one possible report,"
        " its noise is drawn again for each window",
        "",
        *_often(metric, preview),
    ]
    return "\n".join(lines)


def _often(metric: Metric, preview: Preview) -> Iterator[str]:
    """How often the bytes are sent; where that is too seldom to print, in terms of the value's own chance."""
    found = {value: _chance(metric, value, preview.payload) for value in _compared(metric, preview.value)}
    own = found[preview.value]
    if own >= _SELDOM:
        yield "How often these bytes are sent by a device whose value is"
        yield from (f"  {_meaning(metric, value):<15} {float(chance):.1%}" for value, chance in found.items())
        return
    yield "How often these bytes are sent, beside a device with this value, by one whose value is"
    for value, chance in found.items():
        times = "as often" if chance == own else f"{float(chance / own):.3g} times as often"
        yield f"  {_meaning(metric, value):<15} {times}"


def chances(metric: Metric, preview: Preview) -> list[tuple[str, float]]:
    """What the previewed value and the ends of its range mean, and how often each of them leads to the same bytes."""
    return [
        (_meaning(metric, value), float(_chance(metric, value, preview.payload)))
        for value in _compared(metric, preview.value)
    ]


def _meaning(metric: Metric, value: int) -> str:
    """An encoder's value in the words of the definition."""
    if metric.kind == "boolean":
        return "yes" if value else "no"
    if metric.kind == "words":
        return ("no word", "another word")[value] if value <= _ANOTHER else "this word"
    if metric.kind == "choice":
        return (NONE, *metric.labels)[value]
    if metric.kind == "vector":
        numbers = [f"{(metric.lower + step * metric.step) / MILLION:g}" for step in _steps(metric, value)]
        several = numbers if len(set(numbers)) > 1 else [numbers[0], "...", numbers[0]]
        return f"{', '.join(several)} {metric.unit}".rstrip()
    if metric.kind == "histogram":
        low, high = (f"{(metric.lower + end * metric.step) / MILLION:g}" for end in (value, value + 1))
        return f"{low} to {high} {metric.unit}".rstrip()
    return f"{(metric.lower + value * metric.step) / MILLION:g} {metric.unit}".rstrip()


def _steps(metric: Metric, value: int) -> tuple[int, ...]:
    return of_vectors(metric.encoder).coordinates(value)


def _number(metric: Metric, value: int) -> str:
    """An encoder's value, which for a vector has too many digits for one number."""
    return ", ".join(map(str, _steps(metric, value))) if metric.kind == "vector" else str(value)


def _permanent(metric: Metric) -> bool:
    """Whether reports are drawn from an answer that stays: then a value that never changes costs the same for ever."""
    return metric.encoder.prices(1).steady == metric.encoder.prices(2).steady


def _compared(metric: Metric, value: int) -> list[int]:
    return sorted({0, value, _ANOTHER if metric.kind == "words" else metric.encoder.size - 1})


def _chance(metric: Metric, value: int, payload: tuple[int, ...]) -> Fraction:
    chance = getattr(metric.encoder, "chance", None)  # of encoders whose laws are too long to write down
    if chance is not None:
        return Fraction(chance(value, payload))
    return metric.encoder.law(value, payload[: metric.encoder.public]).get(payload, Fraction(0))
