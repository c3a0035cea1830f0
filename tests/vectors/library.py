"""What hubbub itself answers to each operation of the vectors."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub import prf, wire
from hubbub.client.reporter import Reporter, form
from hubbub.client.state import Running
from hubbub.client.values import KINDS
from hubbub.collector.validate import check
from hubbub.encoders import registry as encoders
from hubbub.encoders.base import Encoder, Words, below
from hubbub.encoders.fields import fields
from hubbub.errors import HubbubError
from hubbub.lock import Metric
from hubbub.mechanisms import Mechanism, Summary
from hubbub.mechanisms import registry as mechanisms
from hubbub.mechanisms.words import values_of
from hubbub.store import Entry
from hubbub.store.catalogue import Catalogue
from hubbub.windows import iso, midnight, windows

Json = Any
UNANSWERABLE = "a" * 16  # an id of the right form where the id does not matter


class RefusedError(Exception):
    """hubbub refuses this input."""


class Tape:
    """Words that are given, in order, and how many of them were taken."""

    def __init__(self, words: Sequence[int]) -> None:
        self._words = words
        self.used = 0

    def __call__(self, count: int) -> Sequence[int]:
        taken = self._words[self.used : self.used + count]
        assert len(taken) == count, "the case gives too few words"
        self.used += count
        return taken

    def words(self, count: int) -> Any:
        """The same as an array, for bulk encoding."""
        return np.array(self(count), np.uint32)


def answer(op: str, given: Mapping[str, Json]) -> Json:
    """The answer to one entry.

    Raises:
        RefusedError: hubbub does not take the input.
    """
    try:
        return _round(_ANSWERS[op](**given))
    except HubbubError as error:
        raise RefusedError(str(error)) from None


def _round(value: Json) -> Json:
    """Numbers with a decimal point at twelve digits, the same on every machine; no bound is null."""
    if isinstance(value, float):
        return None if np.isinf(value) else float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: _round(item) for key, item in value.items()}
    return [_round(item) for item in value] if isinstance(value, list | tuple) else value


def _fields(items: list[str | int]) -> str:
    return fields(items).hex()


def _stream(secret: str, collection: str, metric: str, hash: str, purpose: str, key: list[int]) -> Words:
    return prf.device_prf(bytes.fromhex(secret), collection, metric, hash)(purpose, *key)


def _prf(counts: list[int], **stream: Any) -> list[list[int]]:
    words = _stream(**stream)
    return [list(words(count)) for count in counts]


def _report_id(secret: str, collection: str, metric: str, hash: str, window: int) -> str:
    return prf.report_id(prf.device_prf(bytes.fromhex(secret), collection, metric, hash), window)


def _below(bound: int, words: list[int]) -> Json:
    tape = Tape(words)
    return {"value": below(bound, tape), "used": tape.used}


def _encoding_hash(**shape: Any) -> str:
    return _metric(encoder=shape.pop("encoder"), integers=shape.pop("integers"), **shape).hash


def _metric(encoder: str = "randomized_response", integers: Sequence[int] = (1, 0, 0), **changes: Any) -> Metric:
    plain: dict[str, Any] = {
        "name": "a",
        "version": 1,
        "kind": "boolean",
        "lower": 0,
        "step": 1_000_000,
        "unit": "",
        "labels": [],
        "window": "day",
        "starts": "2026-12-01",
        "expires": "2027-11-30",
        "grace": 86_400,
        "report_every": 1,
        "rotation": "",
        "presence": "ran",
        "seal": "window_end",
        "dimensions": (),
        "min_reports": 1,
        "description": "a",
        "purpose": "a",
        "owners": ("a",),
    }
    plain |= changes
    return Metric(encoder=encoders[encoder](*integers), **plain | {"labels": tuple(plain["labels"])})


def _window(window: str, now: float) -> int:
    return windows(window).index(now)


def _span(window: str, index: int) -> list[int]:
    return [windows(window).start(index), windows(window).end(index)]


def _life(window: str, starts: str, expires: str, report_every: int) -> Json:
    metric = _metric(window=window, starts=starts, expires=expires, report_every=report_every)
    life = metric.life
    return {"first": life[0], "last": life[-1], "reports": metric.reports} if life else None


def _due(secret: str, collection: str, indices: list[int], window: str, **definition: Any) -> list[bool]:
    metric = _metric(window=window, **definition)
    reporter = Reporter(metric, collection, bytes.fromhex(secret), "")
    cut = windows(window)
    return [reporter.reports(Running("a", metric.hash, cut.start(index), cut.end(index), "")) for index in indices]


def _arrival(window: str, index: int, grace: int, now: float) -> str:
    start = windows(window).start(index)
    starts, expires = (iso(start + days * 86_400)[:10] for days in (-9, 20))
    metric = _metric(window=window, starts=starts, expires=expires, grace=grace)
    report = {"metric": "a", "hash": metric.hash[:32], "id": UNANSWERABLE, "window": index, "payload": "80"}
    verdict = check(report, Catalogue([Entry("a", metric)]), now)
    return verdict if isinstance(verdict, str) else "taken"


def _pack(payload: list[int], radices: list[int]) -> str:
    return wire.pack(tuple(payload), tuple(radices))


def _unpack(hex: str, radices: list[int]) -> list[int]:
    return list(wire.unpack(hex, tuple(radices)))


def _tick(lower: int, step: int, ticks: int, x: float) -> int:
    integers = [ticks, ticks, 1, 2**32 - 2, 0, 0]
    metric = _metric("one_bit_mean", integers, kind="mean", lower=lower, step=step)
    device = form(metric).index(x)
    bulk = _mechanism("one_bit_mean", integers, lower, step).index(np.array([x], float))
    assert bulk.tolist() == [device], "device and bulk disagree"
    return device


def _word(word: str) -> int:
    bulk: list[int] = values_of([word]).tolist()
    assert bulk == [KINDS["words"].read(_metric())(word)], "device and bulk disagree"
    return bulk[0]


def _device(encoder: str, integers: list[int]) -> Encoder:
    try:
        return encoders[encoder](*integers)
    except TypeError as error:
        raise RefusedError(str(error)) from None


def _mechanism(encoder: str, integers: list[int], lower: int = 0, step: int = 1_000_000) -> Mechanism:
    grid = lower / 1_000_000, step / 1_000_000
    return mechanisms[encoder].from_encoder(_device(encoder, integers), lower=grid[0], step=grid[1])


def _encoder(**which: Any) -> Json:
    e = _device(**which)
    return {
        "size": e.size,
        "radices": e.radices,
        "public": e.public,
        "public_bits": float(e.public_bits),
        "linkage_bits": e.linkage_bits,
    }


def _permanent(value: int, secret: str, collection: str, metric: str, hash: str, **which: Any) -> Json:
    return list(_device(**which).permanent(value, prf.device_prf(bytes.fromhex(secret), collection, metric, hash)))


def _answer(value: int, words: Mapping[str, list[int]], **which: Any) -> Json:
    tapes: dict[str, Tape] = {}

    def streams(purpose: str, *key: int) -> Tape:
        name = "/".join([purpose, *map(str, key)])
        return tapes.setdefault(name, Tape(words[name]))

    given = _device(**which).permanent(value, streams)
    return {"answer": list(given), "used": {name: tape.used for name, tape in sorted(tapes.items())}}


def _report(answer: list[int], words: list[int], **which: Any) -> Json:
    tape = Tape(words)
    return {"payload": list(_device(**which).report(tuple(answer), tape)), "used": tape.used}


def _bulk(values: list[int], words: list[int], **which: Any) -> Json:
    tape = Tape(words)
    sent = _mechanism(**which).randomise(np.array(values, np.int64), tape)
    return {"payloads": sent.tolist(), "used": tape.used}


def _law(value: int, public: Sequence[int] = (), **which: Any) -> Json:
    law = _device(**which).law(value, tuple(public))
    return {",".join(map(str, payload)): _ratio(chance) for payload, chance in sorted(law.items())}


def _ratio(chance: Fraction) -> str:
    return f"{chance.numerator}/{chance.denominator}"


def _prices(windows: int, **which: Any) -> Json:
    return _device(**which).prices(windows)._asdict()


def _estimate(
    n: int,
    level: float,
    ones: int | None = None,
    counts: list[int] | None = None,
    simultaneous: bool = False,
    **which: Any,
) -> Json:
    mechanism = _mechanism(**which)
    shape = mechanism.counts_shape
    given = np.array(ones if counts is None else counts, np.int64)
    if given.size != np.prod(shape, dtype=int):
        raise RefusedError(f"counts must be {shape}")
    estimate = mechanism.estimate(Summary(n, given.reshape(shape)))
    low, high = estimate.interval(level, simultaneous=simultaneous)
    return {
        "value": estimate.value.tolist(),
        "se": estimate.se.tolist(),
        "se_shared": estimate.se_shared.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "method": estimate.method(level, simultaneous=simultaneous),
    }


_ANSWERS: Mapping[str, Callable[..., Json]] = {
    "fields": _fields,
    "prf": _prf,
    "report_id": _report_id,
    "below": _below,
    "encoding_hash": _encoding_hash,
    "window": _window,
    "span": _span,
    "life": _life,
    "date": midnight,
    "due": _due,
    "arrival": _arrival,
    "pack": _pack,
    "unpack": _unpack,
    "tick": _tick,
    "word": _word,
    "encoder": _encoder,
    "permanent": _permanent,
    "answer": _answer,
    "report": _report,
    "bulk": _bulk,
    "law": _law,
    "prices": _prices,
    "estimate": _estimate,
}
