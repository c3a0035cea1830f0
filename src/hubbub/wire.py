"""Payload <-> hex: fields most significant bit first, each (radix - 1).bit_length() bits, zero-padded to whole bytes.

Specification: spec/wire.md, section "Payload".
"""

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
    if len(payload) != len(radices) or not all(0 <= f < r for f, r in zip(payload, radices, strict=True)):
        raise PayloadError("payload does not fit its radices")
    value = bits = 0
    for field, radix in zip(payload, radices, strict=True):
        width = (radix - 1).bit_length()
        value, bits = value << width | field, bits + width
    return (value << -bits % 8).to_bytes((bits + 7) // 8, "big").hex()


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
    out = []
    for width in reversed(widths):
        out.append(value & ((1 << width) - 1))
        value >>= width
    payload = tuple(reversed(out))
    if any(f >= r for f, r in zip(payload, radices, strict=True)):
        raise PayloadError("a field of the payload is outside its range")
    return payload


_HEX = frozenset("0123456789abcdef")
