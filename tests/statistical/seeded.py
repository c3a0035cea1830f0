"""Randomness that is the same at each run."""

import random

from hubbub.encoders.base import Words


def words_of(source: random.Random) -> Words:
    """Words of a seeded generator in place of the system's."""
    return lambda count: [source.getrandbits(32) for _ in range(count)]
