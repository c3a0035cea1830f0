"""Encoders: the half of each mechanism that a device runs. Standard library only."""

from collections.abc import Mapping

from hubbub.encoders.base import Encoder
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse

_ALL: tuple[type[Encoder], ...] = (RandomizedResponse, OneBitMean)
registry: Mapping[str, type[Encoder]] = {cls.name: cls for cls in _ALL}
