"""Text and integers joined without ambiguity, for all that is hashed. Specification: spec/README.md, "Fields"."""

from collections.abc import Iterable


def fields(items: Iterable[str | int]) -> bytes:
    """Join fields unambiguously: each is its UTF-8 bytes (integers in decimal) after their 4-byte big-endian length."""
    raw = (str(item).encode() for item in items)
    return b"".join(len(b).to_bytes(4, "big") + b for b in raw)
