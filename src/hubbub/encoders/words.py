"""What the mechanisms for words share: what a word is as a value, and at which place of a row it stands.

A value is a number of 53 bits: 0 for no word, else the first bits of the word's SHA-256. A row (a cohort, or one of
several hash functions) sends each value to one of `width` places in each of its segments, by a function that is as good
as drawn once and for all: with three 64-bit numbers a, b, c from SHA-256 over the encoder's name, shape, row and
segment, and hi, lo the upper 21 and lower 32 bits of the value,

    place = floor(x width / 2**32),   x = floor(((a + hi) (b + lo) + c mod 2**64) / 2**32).

Over such numbers the x of two different values are uniform and independent. Proofs: spec/words.md.
"""

import hashlib
from functools import lru_cache
from struct import unpack
from typing import NamedTuple

from hubbub.encoders.base import check
from hubbub.encoders.fields import fields
from hubbub.errors import ParameterError

SIZE = 2**53  # values, each exact in a double
MAX_SIDE = 2**16  # places of a row, and rows
MAX_CELLS = 2**26  # places of all rows: 512 MiB of counts
_WORD = fields(("hubbub/1", "word"))
HALF, WHOLE = 32, 2**64 - 1  # bits of the lower half of a value; mask of 64 bits


class Shape(NamedTuple):
    """All that the functions follow from: losses are left out, so that a change of epsilon moves no word."""

    name: str  # of the encoder
    bits: int  # places of a row
    segments: int  # parts into which they are cut, with one place of each value in each
    rows: int

    @property
    def width(self) -> int:
        """Places of a segment."""
        return self.bits // self.segments


def value_of(word: str) -> int:
    """The value of a word: the first 53 bits of its hash, 1 if all of them are 0; 0 for the empty text.

    Words are told apart byte by byte: what is to be one word (capitals, forms of Unicode) must be made one before.

    Raises:
        UnicodeEncodeError: No text that can be written in UTF-8.
    """
    if not word:
        return 0
    digest = hashlib.sha256(_WORD + fields((word,))).digest()
    return max(1, int.from_bytes(digest[:7], "big") >> 3)


@lru_cache(maxsize=1 << 16)
def numbers(shape: Shape, row: int, segment: int) -> tuple[int, int, int]:
    """The a, b and c of one segment of a row."""
    digest = hashlib.sha256(fields(("hubbub/1", "place", *shape, row, segment))).digest()
    a, b, c = unpack(">3Q", digest[:24])
    return a, b, c


def places(shape: Shape, row: int, value: int) -> tuple[int, ...]:
    """Where a value stands in a row: one place in each segment, counted from the row's first place."""
    found = []
    for segment in range(shape.segments):
        a, b, c = numbers(shape, row, segment)
        x = ((a + (value >> HALF)) * (b + (value & 2**HALF - 1)) + c & WHOLE) >> HALF
        found.append(segment * shape.width + (x * shape.width >> HALF))
    return tuple(found)


def fits(bits: int, hashes: int) -> None:
    """Refuse what are no sizes of a sketch: `hashes` rows of `bits` places, both powers of two.

    Raises:
        ParameterError: They are not, or there are too many places in all.
    """
    for name, value, least in (("bits", bits, 2), ("hashes", hashes, 1)):
        check(name, value, least, MAX_SIDE)
        if value & (value - 1):
            raise ParameterError(name, value, "a power of two")
    if bits * hashes > MAX_CELLS:
        raise ParameterError("hashes", hashes, f"at most {MAX_CELLS} / bits")
