"""spec/wire.md: payloads as they travel."""

import re
from collections.abc import Sequence

from tests.vectors.reader.words import need


def widths(radices: Sequence[int]) -> list[int]:
    return [len(f"{radix - 1:b}") if radix > 1 else 0 for radix in radices]


def pack(payload: list[int], radices: list[int]) -> str:
    need(len(payload) == len(radices))
    need(all(0 <= field < radix for field, radix in zip(payload, radices, strict=True)))
    bits = "".join(f"{field:0{width}b}" for field, width in zip(payload, widths(radices), strict=True) if width)
    bits += "0" * (-len(bits) % 8)
    return "".join(f"{int(bits[i : i + 8], 2):02x}" for i in range(0, len(bits), 8))


def unpack(hex: str, radices: list[int]) -> list[int]:
    need(re.fullmatch("[0-9a-f]*", hex))
    bits = "".join(f"{int(digit, 16):04b}" for digit in hex)
    payload = []
    rest = bits
    for width in widths(radices):
        payload.append(int(rest[:width] or "0", 2))
        rest = rest[width:]
    need(pack(payload, radices) == hex)
    return payload
