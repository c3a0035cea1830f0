"""Payload <-> hex: fields most significant bit first, each (radix - 1).bit_length() bits, zero-padded to whole bytes.

Specification: spec/wire.md, section "Payload".
"""

from operator import lt

from hubbub.encoders.base import Payload
from hubbub.errors import PayloadError

REPORTS_SCHEMA = "hubbub.reports/1"
MAX_BODY = 1 << 20  # bytes as sent
MAX_UNPACKED = 8 << 20  # bytes after decompression
MAX_REPORTS = 1000  # reports in one body
TRAVELLING_HASH = 32  # hex digits of the encoding hash that a report carries


def pack(payload: Payload, radices: tuple[int, ...]) -> str:
    """The payload as lower-case hex.

    Raises:
        PayloadError: Wrong number of fields, or a field outside [0, radix).
    """
    if len(payload) != len(radices) or min(payload, default=0) < 0 or not all(map(lt, payload, radices)):
        raise PayloadError("payload does not fit its radices")
    if _only_bits(radices):
        return _hex(int(bytes(payload).translate(_DIGITS), 2), len(payload))
    value = bits = 0
    for field, radix in zip(payload, radices, strict=True):
        width = (radix - 1).bit_length()
        value, bits = value << width | field, bits + width
    return _hex(value, bits)


def unpack(text: str, radices: tuple[int, ...]) -> Payload:
    """The payload behind `text`, which must be exactly what `pack` writes for it.

    Raises:
        PayloadError: Any other length, digit, padding or value.
    """
    widths = [(radix - 1).bit_length() for radix in radices]
    bits = sum(widths)
    if len(text) != (bits + 7) // 8 * 2 or not set(text) <= _HEX:
        raise PayloadError(f"payload must be {(bits + 7) // 8 * 2} lower-case hex digits")
    value = int(text, 16) if text else 0
    if value & ((1 << -bits % 8) - 1):
        raise PayloadError("padding bits of the payload must be zero")
    value >>= -bits % 8
    if _only_bits(radices):
        return tuple(f"{value:0{bits}b}".encode().translate(_BITS))
    out = []
    for width in reversed(widths):
        out.append(value & ((1 << width) - 1))
        value >>= width
    payload = tuple(reversed(out))
    if any(f >= r for f, r in zip(payload, radices, strict=True)):
        raise PayloadError("a field of the payload is outside its range")
    return payload


def _only_bits(radices: tuple[int, ...]) -> bool:
    """Whether every field is a bit: payloads of unary encoders are, and long; they go through C alone."""
    return radices.count(2) == len(radices) > 0


def _hex(value: int, bits: int) -> str:
    return (value << -bits % 8).to_bytes((bits + 7) // 8, "big").hex()


_HEX = frozenset("0123456789abcdef")
_DIGITS, _BITS = bytes.maketrans(b"\0\1", b"01"), bytes.maketrans(b"01", b"\0\1")
