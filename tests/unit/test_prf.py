"""The device's randomness: streams, their separation, report ids, and the system's words."""

import hashlib
import hmac
import os
from itertools import combinations

import pytest

from hubbub.encoders.base import SCALE
from hubbub.encoders.fields import fields
from hubbub.prf import SECRET_BYTES, device_prf, encoding_hash, os_words, report_id

SECRET = bytes(range(SECRET_BYTES))
HASH = "ab" * 32


def stream(purpose: str = "memo", *key: int, count: int = 4, **changes: object) -> tuple[int, ...]:
    parts = {"secret": SECRET, "collection": "editor", "metric": "editor.minutes", "encoding_hash": HASH, **changes}
    return tuple(device_prf(**parts)(purpose, *key)(count))  # type: ignore[arg-type]


def test_words_are_hmac_in_counter_mode() -> None:
    def piece(text: str) -> bytes:
        return len(text.encode()).to_bytes(4, "big") + text.encode()

    head = b"".join(map(piece, ("hubbub/1", "memo", "editor", "editor.minutes", HASH, "7")))
    blocks = b"".join(hmac.new(SECRET, head + bytes((0, 0, 0, i)), hashlib.sha256).digest() for i in range(3))
    words = tuple(int.from_bytes(blocks[i : i + 4], "big") for i in range(0, 96, 4))
    assert stream("memo", 7, count=24) == words


@pytest.mark.parametrize("pieces", [(1,), (8,), (3, 5), (7, 2), (9, 7), (0, 16), (1,) * 20])
def test_a_stream_is_the_same_however_it_is_read(pieces: tuple[int, ...]) -> None:
    words = device_prf(SECRET, "editor", "editor.minutes", HASH)("memo", 7)
    assert tuple(word for piece in pieces for word in words(piece)) == stream("memo", 7, count=sum(pieces))


def test_a_stream_begins_anew_each_time_it_is_asked_for() -> None:
    prf = device_prf(SECRET, "editor", "editor.minutes", HASH)
    first = prf("memo", 1)(5)
    prf("alpha")(3)
    assert prf("memo", 1)(5) == first


def test_streams_do_not_collide() -> None:
    streams = {
        "memo 1": stream("memo", 1),
        "memo 11": stream("memo", 11),
        "memo 1 1": stream("memo", 1, 1),
        "memo": stream("memo"),
        "alpha": stream("alpha"),
        "id 1": stream("id", 1),
        "cohort": stream("cohort"),
        "turn 7": stream("turn", 7),
        "pool": stream("pool"),
        "empty": stream(""),
        "memo -1": stream("memo", -1),
        "other secret": stream("memo", 1, secret=bytes(32)),
        "other collection": stream("memo", 1, collection="editor2"),
        "other metric": stream("memo", 1, metric="editor.hours"),
        "other encoding": stream("memo", 1, encoding_hash="ac" * 32),
        "half the hash": stream("memo", 1, encoding_hash=HASH[:32]),
        "shifted border": stream("memo", 1, collection="editore", metric="ditor.minutes"),
        "no metric": stream("memo", 1, metric="", encoding_hash=""),
    }
    for one, other in combinations(streams, 2):
        assert not set(streams[one]) & set(streams[other]), (one, other)


def test_fields_are_joined_unambiguously() -> None:
    assert fields(("ab", "c")) == b"\0\0\0\x02ab\0\0\0\x01c"
    assert fields(("é", 10, "")) == b"\0\0\0\x02\xc3\xa9\0\0\0\x0210\0\0\0\0"
    assert fields(()) == b""
    assert len({fields(items) for items in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"))}) == 5


def test_report_ids() -> None:
    prf = device_prf(SECRET, "editor", "editor.minutes", HASH)
    high, low = prf("id", 20_788)(2)
    assert report_id(prf, 20_788) == report_id(prf, 20_788) == f"{high << 32 | low:016x}"
    assert len({report_id(prf, window) for window in range(2000)}) == 2000
    others = (bytes(32), bytes([1] * 32))
    assert len({report_id(device_prf(s, "editor", "editor.minutes", HASH), 1) for s in (SECRET, *others)}) == 3


def test_small_ids_keep_their_zeros() -> None:
    assert report_id(lambda purpose, *key: lambda count: (1, 2), 0) == "0000000100000002"


def test_encoding_hash() -> None:
    whole = b"".join(len(b).to_bytes(4, "big") + b for b in (b"hubbub/1", b"encoding", b"mean", b"480"))
    assert encoding_hash("mean", 480) == hashlib.sha256(whole).hexdigest()
    assert len(encoding_hash()) == 64
    assert encoding_hash("a", "b") != encoding_hash("b", "a")


def test_system_words_are_read_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def urandom(count: int) -> bytes:
        asked.append(count)
        return bytes(range(count))

    monkeypatch.setattr(os, "urandom", urandom)
    assert os_words(2) == (0x00010203, 0x04050607)
    assert os_words(1) == (0x00010203,)
    assert os_words(0) == ()
    assert asked == [8, 4, 0]


def test_system_words_are_words() -> None:
    words = os_words(1000)
    assert len(set(words)) > 990
    assert all(0 <= word < SCALE for word in words)
    assert max(words) > SCALE * 0.9
