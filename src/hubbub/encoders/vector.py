"""Vectors: what encoders of several bounded numbers have in common.

Each of `dimension` coordinates is a tick in [0, ticks]. A value is all of them as the digits of one number, the first
coordinate the lowest: x_0 + x_1 (ticks + 1) + x_2 (ticks + 1)² + ... A device's answer is the coordinates themselves.
Everything is drawn afresh. Specification: spec/coordinates.md.
"""

from collections.abc import Sequence
from typing import ClassVar

from hubbub.encoders.base import Answer, Encoder, Prf, check
from hubbub.encoders.levels import MAX_TICKS
from hubbub.errors import ParameterError, PrivateValueError

MAX_DIMENSION = 4096


class Coordinates:
    """An encoder of vectors; subclasses are frozen dataclasses that begin with these two integers."""

    kinds: ClassVar[tuple[str, ...]] = ("vector",)
    public_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0
    dimension: int
    ticks: int

    @property
    def size(self) -> int:
        """Number of values, of hundreds of digits where there are many coordinates."""
        return int((self.ticks + 1) ** self.dimension)

    def coordinates(self, value: int) -> tuple[int, ...]:
        """The ticks that a value stands for.

        Raises:
            PrivateValueError: Not an integer in [0, size); the message does not say what it was.
        """
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < self.size:
            raise PrivateValueError(f"the value must be an integer in [0, {self.ticks + 1}**{self.dimension})")
        found = []
        for _ in range(self.dimension):
            value, tick = divmod(value, self.ticks + 1)
            found.append(tick)
        return tuple(found)

    def value(self, coordinates: Sequence[int]) -> int:
        """The value that stands for these ticks.

        Raises:
            PrivateValueError: Not `dimension` integers in [0, ticks]; named by position only.
        """
        if len(coordinates) != self.dimension:
            raise PrivateValueError(f"there must be {self.dimension} coordinates")
        value = 0
        for i, tick in reversed(list(enumerate(coordinates))):
            if not isinstance(tick, int) or isinstance(tick, bool) or not 0 <= tick <= self.ticks:
                raise PrivateValueError(f"coordinate {i} must be an integer in [0, {self.ticks}]")
            value = value * (self.ticks + 1) + tick
        return value

    def permanent(self, value: int, prf: Prf) -> Answer:
        """The coordinates; no words: everything is drawn afresh."""
        return self.coordinates(value)


def of_vectors(encoder: Encoder) -> Coordinates:
    """The encoder, which must be one of vectors.

    Raises:
        ParameterError: It is not.
    """
    if not isinstance(encoder, Coordinates):
        raise ParameterError("encoder", encoder.name, "one of vectors")
    return encoder


def fits(dimension: int, ticks: int, most: int = MAX_DIMENSION) -> None:
    """Refuse what are no sizes of a vector.

    Raises:
        ParameterError: One of them is no integer, or out of its range.
    """
    check("dimension", dimension, 2, most)
    check("ticks", ticks, 1, MAX_TICKS)
