"""Two windows of steady devices through clients, HTTP, collector and store; the full run is `benchmarks.linking`.

Words of the system come from a seeded generator here, so what passes passes always. For other seeds a scheme whose two
reports share all the bits that were declared would be called beyond them once in 30 000, and ids be called telling once
in 3e9.
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
from benchmarks.support.linking import IN_ORDER, TOGETHER, Crowd, Linked, _joint, allowed, link
from benchmarks.support.steady import STORE, Seen
from hubbub import prf
from hubbub.collector.validate import signed
from hubbub.encoders.base import Answer, Encoder, Payload, Words
from hubbub.encoders.oue import Oue
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


def rows(window: int, ids: Sequence[int], fields: Sequence[int] | None = None) -> list[Report]:
    """A window of the pool's metric, as a store gives it."""
    encoder = POOL.encoder
    key = WindowKey(POOL.name, POOL.hash, window)
    return [
        Report(key, id_, "", pack((field, 0), encoder.radices))
        for id_, field in zip(ids, fields or [0] * len(ids), strict=True)
    ]


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
    ids = [sorted((signed(f"{pair[i]:016x}"), device) for device, pair in enumerate(pairs)) for i in (0, 1)]
    place = {device: row for row, (_, device) in enumerate(ids[0])}
    partner = [place[device] for _, device in ids[1]]
    first, last = (rows(window, [id_ for id_, _ in ids[window]]) for window in (0, 1))
    one = link("pool", POOL.encoder, crowd_of(POOL), Seen(first, last, partner))
    assert (one.equal, one.in_order > IN_ORDER, one.together > TOGETHER) == told
    assert one.told_by_ids == any(told)


def test_fields_that_should_stay_and_do_not_are_refused() -> None:
    seen = Seen(rows(0, [1, 2], [3, 4]), rows(1, [5, 6], [4, 5]), [1, 0])
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
