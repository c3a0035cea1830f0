"""One report as it would travel, from a secret that no device has and from noise that is written down here."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from hubbub.client.reporter import Preview, form, travelling
from hubbub.client.showing import often
from hubbub.encoders.base import Payload
from hubbub.encoders.vector import Coordinates
from hubbub.lock import MILLION, Metric
from hubbub.prf import device_prf, report_id

SECRET = bytes(range(32))
WORD = "example"  # stands for what a person may have typed


class Example(NamedTuple):
    """What a device with some value would send.

    Attributes:
        given: What the app gives, in words.
        body: The bytes of the request's body, as text.
        clear: Fields of the payload that are sent as they are, without a look at the value.
        seldom: Whether how often is told beside the given value's own.
        often: Values in words, and how often each leads to the very same payload.
    """

    given: str
    body: str
    clear: Payload
    seldom: bool
    often: Sequence[tuple[str, str]]


def example(metric: Metric, collection: str) -> Example:
    """The report of the metric's first window by the example's device; the same each time."""
    own = form(metric)
    given, text = _given(metric)
    prf = device_prf(SECRET, collection, metric.name, metric.hash)
    value = own.index(own.read(given))
    answer = metric.encoder.permanent(value, prf)
    # Its noise must not be that of a device: it comes from the hash of the definition, and anybody can draw it again.
    noise = hashlib.sha256(f"hubbub example {metric.hash}".encode()).digest()
    payload = metric.encoder.report(answer, device_prf(noise, collection, metric.name, metric.hash)("example"))
    window = metric.life.start
    body = travelling(metric, report_id(prf, window), window, metric.segments[0], payload)
    found = often(metric, Preview(value, answer, payload))
    return Example(text, body.decode(), payload[: metric.encoder.public], *found)


def _given(metric: Metric) -> tuple[object, str]:
    if metric.kind == "boolean":
        return True, "yes"
    if metric.kind == "choice":
        return metric.labels[0], metric.labels[0]
    if metric.kind == "words":
        return WORD, f"the word {WORD}"
    if isinstance(metric.encoder, Coordinates):
        return [0.0] * metric.encoder.dimension, f"{metric.encoder.dimension} coordinates, all 0"
    middle = (metric.lower + metric.encoder.size // 2 * metric.step) / MILLION
    return middle, f"{middle:g} {metric.unit}".rstrip()
