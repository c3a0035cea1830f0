"""Randomised response: share of yes = (ones/n - q) / (1 - 2q); what is sent stands in the encoder of the same name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.randomized_response import RandomizedResponse as Device
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms.base import Reports, WordSource, asked, clean, held, second_round, threshold
from hubbub.mechanisms.coin import Coin, Line
from hubbub.mechanisms.estimate import Ints, Reals


@dataclass(frozen=True)
class RandomizedResponse(Coin):
    """Share of devices that answer yes."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Warner, JASA 60 (1965), 63-69"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ({}, {"permanent_epsilon": 2.5}, {"permanent_epsilon": 1.0})
    encoder: Device

    @classmethod
    def from_epsilon(cls, epsilon: float, *, permanent_epsilon: float | None = None) -> Self:
        """Losses at most as asked; permanent_epsilon = None draws every lie afresh.

        Raises:
            ParameterError: A loss outside [0.001, 16], or the permanent one below that of one report.
        """
        asked(epsilon, permanent_epsilon)
        low = threshold(permanent_epsilon or epsilon)
        return cls(Device(low, second_round(epsilon, permanent_epsilon, low), int(permanent_epsilon is not None)))

    @classmethod
    def from_encoder(cls, encoder: Encoder, *, lower: float = 0, step: float = 1, labels: Sequence[str] = ()) -> Self:
        """The mechanism of a locked metric; a boolean has neither grid nor labels.

        Raises:
            ParameterError: Another mechanism's encoder.
        """
        if not isinstance(encoder, Device):
            raise ParameterError("encoder", encoder, f"a {cls.name}")
        return cls(encoder)

    @property
    def line(self) -> Line:
        """The coin's chance over the share of yes."""
        q = float(self.encoder.lie())
        return Line(0.0, 1.0, q, 1 - q, self.encoder.low / SCALE if self.encoder.memo else 0.0)

    @property
    def bounds(self) -> tuple[float, float]:
        """A share."""
        return 0.0, 1.0

    def index(self, values: ArrayLike) -> Ints:
        """(n,) booleans -> 0 or 1.

        Raises:
            PrivateValueError: One of them is neither yes nor no; named by position only.
        """
        array = clean(values, "booleans", "biuf")
        if (bad := np.flatnonzero((array != 0) & (array != 1))).size:
            raise PrivateValueError(f"values[{bad[0]}] must be a boolean")
        return np.asarray(array, np.int64)

    def truth(self, value: int) -> Reals:
        """1 for yes, 0 for no."""
        return np.array(float(value))

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1); two words a person where memo (answer, flip), one otherwise.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, e.size)
        words = source.words(len(values) * (1 + e.memo)).reshape(len(values), 1 + e.memo)
        bits = np.not_equal(words[:, 0] < e.low, values)
        if e.memo:
            bits ^= words[:, 1] < e.flip
        return bits.view(np.uint8)[:, None]
