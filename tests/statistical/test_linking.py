"""Two windows of steady devices through clients, HTTP, collector and store; the full run is `benchmarks.linking`.

Words of the system come from a seeded generator here, so what passes passes always. For other seeds a scheme whose two
reports share all the bits that were declared would be called beyond them once in 30 000, and ids be called telling once
in 9e7.
"""

import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.linking import SCHEMES, crowd_of, lock_of, measure
from benchmarks.support.linking import (
    IN_COMMON,
    IN_ORDER,
    TOGETHER,
    Crowd,
    Linked,
    _joint,
    across,
    allowed,
    in_common,
    link,
)
from benchmarks.support.steady import STORE, Seen
from hubbub import prf
from hubbub.collector.validate import signed
from hubbub.encoders.base import Answer, Encoder, Payload, Prf, Words
from hubbub.encoders.oue import Oue
from hubbub.lock import Metric
from hubbub.mechanisms import registry
from hubbub.store import Report, WindowKey
from hubbub.wire import pack
from tests.statistical.seeded import words_of

SEED = 20_261_209
DEVICES = 300
LONG = {"oue k=512": SCHEMES["oue k=128"].replace("128", "512")}


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one; what devices draw from now on is the same at each run."""
    monkeypatch.setattr("os.urandom", random.Random(SEED).randbytes)
    return tmp_path_factory.mktemp("steady")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Linked], Path]:
    """What the attacker got of devices as they are, by scheme, and the store."""
    folder = tmp_path_factory.mktemp("steady")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.urandom", random.Random(SEED).randbytes)
        return measure({**SCHEMES, **LONG}, DEVICES, folder, SEED), folder / STORE


def test_partners_are_found_no_more_than_bits_allow(honest: tuple[dict[str, Linked], Path]) -> None:
    found, _ = honest
    assert len(found) == 2 * len(SCHEMES)  # with the long one, and without two that are not fresh
    for one in found.values():
        assert not one.beyond, one
        assert not one.told_by_ids, one


def test_long_permanent_answers_are_ids(honest: tuple[dict[str, Linked], Path]) -> None:
    """As declared: what 512 categories tell is not far below the bound, and an attacker finds many partners."""
    one = honest[0]["oue k=512 memo"]
    assert 0.8 * one.linkage_bits < one.bits < one.linkage_bits
    assert one.matched > 0.5


@pytest.mark.parametrize("scheme", ["olh_pool k=128 memo", "d_bit_flip k=128 d=16 memo", "rappor memo"])
def test_public_fields_that_were_not_declared_would_be_noticed(
    scheme: str, honest: tuple[dict[str, Linked], Path]
) -> None:
    one = honest[0][scheme]
    silent = replace(one, public_bits=0.0, most=allowed(one.linkage_bits, DEVICES))
    assert silent.beyond
    assert replace(silent, matched=0.0).beyond


def test_the_store_keeps_nothing_else_that_grows_with_devices(honest: tuple[dict[str, Linked], Path]) -> None:
    """All tables and columns: what is added here has to be given to the attacker, or shown to tell nothing."""
    found, path = honest
    metrics = len(found)
    with closing(sqlite3.connect(path)) as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: file.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
        columns = [row[1] for row in file.execute("PRAGMA table_info(reports)")]
        segments = file.execute("SELECT DISTINCT segment FROM reports").fetchall()
        told = file.execute("SELECT DISTINCT metric, window_start, segment FROM estimates").fetchall()
        with pytest.raises(sqlite3.OperationalError, match="no such column: rowid"):
            file.execute("SELECT rowid FROM reports")
    assert rows.pop("reports") == 2 * metrics * DEVICES
    assert rows.pop("estimates") >= len(told) <= 2 * metrics  # as many as were published by then
    assert (columns, segments) == (["window_id", "id", "segment", "payload"], [("",)])
    assert rows.pop("counters") <= 2  # accepted, and duplicates where an answer was lost
    assert rows == {"windows": 2 * metrics, "cells": 2 * metrics, "locks": metrics, "marks": 0}


def test_devices_that_repeat_themselves_are_noticed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that follows from the permanent answer, and ids from the secret alone."""
    report, report_id = Oue.report, prf.report_id

    def again(self: Oue, answer: Answer, words: Words) -> Payload:
        return report(self, answer, words_of(random.Random(repr(answer))))

    monkeypatch.setattr(Oue, "report", again)
    monkeypatch.setattr(prf, "report_id", lambda device, window: report_id(device, 0))
    found = measure({"oue": SCHEMES["oue k=128"]}, DEVICES, folder, SEED)
    assert found["oue memo"].matched == 1
    assert replace(found["oue memo"], bits=0.0).beyond
    for one in found.values():
        assert one.beyond
        assert (one.equal, one.in_order, one.told_by_ids) == (DEVICES, DEVICES, True)


@pytest.mark.parametrize(
    ("scheme", "carried", "windows"),
    [
        ("randomized_response", lambda answer, own, partner: answer[0], (0,)),
        ("grr k=128", lambda answer, own, partner: own[0], (0, 1)),
        ("oue k=128", lambda answer, own, partner: sum(own), (1,)),
        ("grr k=128", lambda answer, own, partner: partner[0], (1,)),
    ],
    ids=["permanent answer", "own payload", "parity of the payload", "partner's payload"],
)
def test_ids_that_carry_answers_are_noticed(
    scheme: str, carried: Callable[[Answer, Payload, Payload], int], windows: Sequence[int]
) -> None:
    """By their last bit, in these windows; without it they are not."""
    metric = next(metric for metric in lock_of({scheme: SCHEMES[scheme]})[0].metrics.values() if metric.encoder.memo)
    encoder, crowd, source = metric.encoder, crowd_of(metric), random.Random(SEED)
    told: list[list[tuple[int, int, str]]] = [[], []]
    honest: list[list[tuple[int, int, str]]] = [[], []]
    for device, value in enumerate(source.choices(crowd.values, list(crowd.shares), k=DEVICES)):
        answer = encoder.permanent(value, lambda *_: words_of(source))
        sent = [encoder.report(answer, words_of(source)) for _ in (0, 1)]
        for window in (0, 1):
            id_, payload = source.getrandbits(64), pack(sent[window], encoder.radices)
            honest[window].append((signed(f"{id_:016x}"), device, payload))
            if window in windows:
                id_ = id_ & ~1 | carried(answer, sent[window], sent[1 - window]) & 1
            told[window].append((signed(f"{id_:016x}"), device, payload))
    one, other = (link(scheme, encoder, crowd, seen_of(metric, parts)) for parts in (told, honest))
    assert one.told_by_ids
    assert (one.equal, one.in_order > IN_ORDER, one.together > TOGETHER) == (0, False, False)
    assert not other.told_by_ids


def test_ids_that_metrics_have_in_common_are_noticed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal but for a constant of each metric, with which any metric by itself shows nothing."""
    device_prf, report_id = prf.device_prf, prf.report_id
    constants: dict[Prf, int] = {}

    def noted(secret: bytes, collection: str, metric: str, encoding_hash: str) -> Prf:
        made = device_prf(secret, collection, metric, encoding_hash)
        constants[made] = int(encoding_hash[:16] or "0", 16)
        return made

    def of_device(device: Prf, window: int) -> str:
        same = report_id(lambda _, *key: device("turn", *key), window)
        return f"{int(same, 16) ^ constants[device]:016x}"

    monkeypatch.setattr(prf, "device_prf", noted)
    monkeypatch.setattr(prf, "report_id", of_device)
    schemes = ("randomized_response", "grr k=16")
    for one in measure({scheme: SCHEMES[scheme] for scheme in schemes}, 60, folder, SEED).values():
        assert one.told_by_ids
        assert one.in_common > IN_COMMON
        assert not replace(one, in_common=0, across=0.0).told_by_ids


def test_ids_in_common_are_counted() -> None:
    source = random.Random(SEED)
    first, second = ([signed(f"{source.getrandbits(64):016x}") for _ in range(DEVICES)] for _ in range(2))
    assert in_common({"a": first, "b": second}) == {"a": 1, "b": 1}
    assert in_common({"a": first, "b": second[3:] + first[-3:]}) == {"a": 3, "b": 3}
    assert in_common({"a": first, "b": second, "c": [id_ ^ 12345 for id_ in first]}) == {"a": 20, "b": 1, "c": 20}


def test_ids_with_some_bits_in_common_are_noticed() -> None:
    """In either window, whatever the order of the rows; the other half is of each metric's own."""
    source = random.Random(SEED)
    payload = pack((0, 0), POOL.encoder.radices)

    def parts(halves: Sequence[Sequence[int]]) -> Seen:
        ids = [[half << 32 | source.getrandbits(32) for half in window] for window in halves]
        return seen_of(POOL, [[(signed(f"{id_:016x}"), i, payload) for i, id_ in enumerate(window)] for window in ids])

    drawn = [[source.getrandbits(32) for _ in range(DEVICES)] for _ in range(5)]
    turned = [half ^ 2**31 for half in drawn[0]]
    found = across({"a": parts(drawn[:2]), "b": parts([drawn[2], drawn[1]]), "c": parts([turned, drawn[3]])})
    assert min(found.values()) == pytest.approx(DEVICES**0.5)
    assert across({"a": parts(drawn[:2]), "b": parts(drawn[2:4])})["a"] < TOGETHER


def seen_of(metric: Metric, parts: Sequence[Sequence[tuple[int, int, str]]]) -> Seen:
    """Two windows of (id, device, payload), in the order of ids, as a store gives them."""
    stored = [sorted(part) for part in parts]
    place = {device: row for row, (_, device, _) in enumerate(stored[0])}
    first, second = (
        [Report(WindowKey(metric.name, metric.hash, window), id_, "", payload) for id_, _, payload in part]
        for window, part in enumerate(stored)
    )
    return Seen(first, second, [place[device] for _, device, _ in stored[1]], [device for _, device, _ in stored[0]])


POOL = lock_of({"pool": SCHEMES["olh_pool k=128"]})[0].metrics["pool_memo"]
WHOLE = 2**64 - 1


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (lambda one, other: other, (0, False, False)),
        (lambda one, other: one >> 32 << 32 | other >> 32, (0, True, True)),
        (lambda one, other: one ^ WHOLE, (0, False, True)),
        (lambda one, other: (one << 7 | one >> 57) & WHOLE, (0, False, True)),
        (lambda one, other: one + 1 & WHOLE, (0, True, True)),
    ],
    ids=["another", "one half stays", "each bit turned", "turned round", "counted"],
)
def test_ids_that_tell_of_one_another_are_noticed(
    second: Callable[[int, int], int], told: tuple[int, bool, bool]
) -> None:
    """Also where none comes again."""
    source = random.Random(SEED)
    pairs = [(one, second(one, source.getrandbits(64))) for one in (source.getrandbits(64) for _ in range(DEVICES))]
    payload = pack((0, 0), POOL.encoder.radices)
    parts = [[(signed(f"{pair[i]:016x}"), device, payload) for device, pair in enumerate(pairs)] for i in (0, 1)]
    one = link("pool", POOL.encoder, crowd_of(POOL), seen_of(POOL, parts))
    assert (one.equal, one.in_order > IN_ORDER, one.together > TOGETHER) == told
    assert one.told_by_ids == any(told)


def test_fields_that_should_stay_and_do_not_are_refused() -> None:
    sent = [pack((seed, 0), POOL.encoder.radices) for seed in (3, 4, 5)]
    seen = seen_of(POOL, [[(1, 0, sent[0]), (2, 1, sent[1])], [(5, 1, sent[1]), (6, 0, sent[2])]])
    with pytest.raises(ValueError, match="pool: public fields"):
        link("pool", POOL.encoder, crowd_of(POOL), seen)


SMALL: dict[str, Encoder] = {
    f"{name} {'fresh' if permanent is None else 'memo'}": registry[name]
    .from_epsilon(1.0, permanent_epsilon=permanent, **keys)
    .encoder
    for name, keys in {
        "grr": {"categories": 4},
        "oue": {"categories": 4},
        "sue": {"categories": 4},
        "olh_pool": {"categories": 4},
        "d_bit_flip": {"categories": 4, "d": 2},
        "one_bit_mean": {"lower": 0, "upper": 3},
        "randomized_response": {},
    }.items()
    for permanent in (None, 2.0)
    if name != "d_bit_flip" or permanent
}


@pytest.mark.parametrize("name", SMALL)
def test_chances_of_both_reports_add_up_to_those_of_one(name: str) -> None:
    encoder, values = SMALL[name], range(SMALL[name].size)
    shares = np.arange(1, encoder.size + 1) / np.arange(1, encoder.size + 1).sum()
    stays = (1,) if encoder.memo and encoder.public else ()
    drawn = [(field,) for field in range(encoder.radices[0])] if encoder.public and not encoder.memo else [stays]
    chances: Counter[Payload] = Counter()
    for public in drawn:
        for value, share in enumerate(shares):
            for payload, chance in encoder.law(value, public).items():
                chances[payload] += share * float(chance) / len(drawn)
    alone = np.array(list(chances.values()))
    odds = _joint(encoder, stays, Crowd(values, values, shares))(list(chances), list(chances))
    for way in (0, 1):
        assert (np.exp(odds) * np.outer(alone, alone)).sum(axis=way) == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("devices", [10, 5_000])
def test_bits_and_hits(devices: int) -> None:
    assert allowed(0.0, devices) == pytest.approx(1 / devices)
    assert allowed(np.log2(devices), devices) == 1
    shares = [allowed(bits, devices) for bits in (0.1, 0.5, 1.0, 2.0)]
    assert shares == sorted(shares)
    s = shares[2]
    assert s * np.log2(s * devices) + (1 - s) * np.log2((1 - s) * devices / (devices - 1)) == pytest.approx(1.0)
