"""A preview as people and programs read it. Nothing here holds the secret."""

from collections.abc import Iterator
from fractions import Fraction
from math import comb, prod
from typing import Any

from hubbub.client.reporter import Preview
from hubbub.encoders.base import Encoder, Payload
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.hybrid import Hybrid
from hubbub.encoders.piecewise_vector import PiecewiseVector
from hubbub.encoders.vector import of_vectors
from hubbub.lock import MILLION, NONE, Metric
from hubbub.windows import iso
from hubbub.wire import pack

_SELDOM = Fraction(1, 1000)  # chances below are printed as ratios
_CLIPPED = "what lies outside is clipped"
_OUTSIDE = {
    "boolean": "anything but yes or no is not recorded",
    "choice": "any other label is not recorded",
    "histogram": "what lies outside counts in the first or last",
    "words": "a hash of its letters",
}
_ANOTHER = 1  # a value that is no word's, as good as certainly, and stands for any other word


def preview_plain(metric: Metric, preview: Preview, now: float | None = None) -> dict[str, Any]:
    """A preview in plain types.

    Args:
        now: Unix seconds; where the metric does not run then there is no payload. None: at some time when it does.
    """
    begins, ends = _life(metric)
    sent = now is None or begins <= now < ends
    return {
        "metric": metric.name,
        "value": preview.value if metric.kind != "vector" else list(_steps(metric, preview.value)),
        "meaning": _meaning(metric, preview.value),
        "permanent": bool(metric.encoder.memo),
        "answer": list(preview.answer),
        "begins": iso(begins),
        "ends": iso(ends),
        "payload": pack(preview.payload, metric.encoder.radices) if sent else None,
        "in_the_clear": list(preview.payload[: metric.encoder.public]) if sent else [],
        "chances": {
            _number(metric, value): float(chance(metric.encoder, value, preview.payload))
            for value in (_compared(metric, preview.value) if sent else ())
        },
    }


def preview_text(metric: Metric, given: str, preview: Preview, now: float | None = None) -> str:
    """A preview in words.

    Args:
        now: Unix seconds; where the metric does not run then that is said. None: at some time when it does.
    """
    if metric.kind == "vector":
        place = f"steps {_number(metric, preview.value)} of 0 to {of_vectors(metric.encoder).ticks}"
    else:
        place = f"number {preview.value} of 0 to {metric.encoder.size - 1}"
    encoder = metric.encoder
    kept = " ".join(map(str, preview.answer[encoder.public :]))
    clear = " ".join(map(str, preview.payload[: encoder.public]))
    lines = [
        f"{metric.name} = {given}. Nothing is recorded or sent by looking.",
        "",
        f"value             {_meaning(metric, preview.value)} ({place}; {_OUTSIDE.get(metric.kind, _CLIPPED)})",
        f"permanent answer  {kept}: drawn once from this installation's secret, kept for ever in place of the value"
        if encoder.memo
        else "permanent answer  none: each report of this metric is drawn afresh from the value",
    ]
    begins, ends = _life(metric)
    if now is not None and now < begins:
        lines.append(f"bytes to send     none yet: the metric begins {iso(begins)}, nothing is recorded before")
    elif now is not None and now >= ends:
        lines.append(f"bytes to send     none: the metric ended {iso(ends)}, nothing is recorded any more")
    else:
        lines += [f"in the clear      {clear}: {drawn_openly(encoder)}"] if clear else []
        lines += [
            f"bytes to send     {pack(preview.payload, encoder.radices)}: one possible report,"
            " its noise is drawn again for each window",
            "",
            *_often(metric, preview),
        ]
    return "\n".join(lines)


def _often(metric: Metric, preview: Preview) -> Iterator[str]:
    seldom, found = often(metric, preview)
    if seldom:
        yield "How often these bytes are sent, beside a device with this value, by one whose value is"
    elif metric.encoder.public:
        yield "How often these bytes, with what is in the clear, are sent by a device whose value is"
    else:
        yield "How often these bytes are sent by a device whose value is"
    yield from (f"  {meaning:<15} {said}" for meaning, said in found)


def often(metric: Metric, preview: Preview) -> tuple[bool, list[tuple[str, str]]]:
    """How often devices send the previewed bytes, over all that they draw, for the value and the ends of its range.

    Returns:
        Whether that is too seldom to be printed, so that each is told beside the value's own; the values with it.
    """
    found = {value: chance(metric.encoder, value, preview.payload) for value in _compared(metric, preview.value)}
    own = found[preview.value]
    seldom = own < _SELDOM
    return seldom, [
        (_meaning(metric, value), _times(each, own) if seldom else f"{100 * float(each):.3g} %")
        for value, each in found.items()
    ]


def _times(each: Fraction, own: Fraction) -> str:
    return "as often" if each == own else f"{float(each / own):.3g} times as often"


def chance(encoder: Encoder, value: int, payload: Payload) -> Fraction:
    """Exact chance that a device with this value sends this payload: over all secrets and all noise."""
    public = payload[: encoder.public]
    single = getattr(encoder, "chance", None)  # of encoders whose laws are too long to write down
    under = encoder.law(value, public).get(payload, Fraction(0)) if single is None else Fraction(single(value, payload))
    return _drawing(encoder, public) * under


def drawn_openly(encoder: Encoder) -> str:
    """Where the public fields of a report come from, in words."""
    if encoder.memo and _devices(encoder) == 1:
        return "the same for every device"
    if encoder.memo:
        return f"drawn once for each device, one of {_devices(encoder)}, the same in all of its reports"
    return "drawn again for each report, without a look at the value"


def _drawing(encoder: Encoder, public: Payload) -> Fraction:
    """Chance that a device draws these public fields: all that there are have the same one, but for a coin's sides."""
    if encoder.memo:
        return Fraction(1, _devices(encoder))
    if isinstance(encoder, Hybrid):
        return encoder.parts[public[0]][1]
    if isinstance(encoder, DBitFlip):
        return Fraction(1, comb(encoder.size, encoder.d))
    if isinstance(encoder, PiecewiseVector):
        return Fraction(1, comb(encoder.dimension, encoder.sampled))
    return Fraction(1, prod(encoder.radices[: encoder.public]))


def _devices(encoder: Encoder) -> int:
    """How many kinds of device there are by what they keep and send in the clear."""
    return round(2**encoder.public_bits)


def _life(metric: Metric) -> tuple[int, int]:
    """When the first window that may be reported begins, and when the last one ends, in unix seconds."""
    return metric.windows.start(metric.life.start), metric.windows.start(metric.life.stop)


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


def _compared(metric: Metric, value: int) -> list[int]:
    return sorted({0, value, _ANOTHER if metric.kind == "words" else metric.encoder.size - 1})
