"""Summaries: all that is kept of the reports of one (metric, hash, window, segment)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import ParameterError

_WIRE = np.dtype("<i8")


@dataclass(frozen=True, eq=False)
class Summary:
    """A count and a small integer vector; they merge by `+` within one window and segment.

    Attributes:
        n: Reports.
        counts: What the mechanism counts, shape () or (size,), int64.
    """

    n: int
    counts: NDArray[np.int64]

    def __add__(self, other: Self) -> "Summary":
        """The summary of both sets of reports.

        Raises:
            ParameterError: The counts are of different shapes, so they are not of one mechanism.
        """
        if self.counts.shape != other.counts.shape:
            raise ParameterError("counts.shape", other.counts.shape, f"{self.counts.shape}, as in the other summary")
        return Summary(self.n + other.n, self.counts + other.counts)

    def __eq__(self, other: object) -> bool:
        """Equal counts of equally many reports."""
        return isinstance(other, Summary) and self.n == other.n and np.array_equal(self.counts, other.counts)

    def to_bytes(self) -> bytes:
        """The counts as little-endian 64-bit integers, the same on every machine; n travels beside them."""
        return self.counts.astype(_WIRE).tobytes()

    @classmethod
    def from_bytes(cls, n: int, raw: bytes, shape: tuple[int, ...]) -> "Summary":
        """The summary behind `to_bytes`, for a mechanism whose counts have this shape.

        Raises:
            ParameterError: The bytes do not fill the shape.
        """
        if len(raw) != 8 * int(np.prod(shape)):
            raise ParameterError("counts", f"{len(raw)} bytes", f"{8 * int(np.prod(shape))} bytes")
        return cls(n, np.frombuffer(raw, _WIRE).astype(np.int64).reshape(shape))
