"""Optimised unary encoding: the own category's bit is a fair coin, p = 1/2; the others are 1 as seldom as that allows.

Source: Wang, Blocki, Li, Jha, USENIX Security 2017. Proofs: spec/mechanisms/oue.md.
"""

from dataclasses import dataclass
from typing import ClassVar

from hubbub.encoders.unary import HALF, Unary


@dataclass(frozen=True)
class Oue(Unary):
    """One of `size` categories; values: their indices."""

    name: ClassVar[str] = "oue"

    @property
    def own(self) -> int:
        """Share of words that set the own category's bit."""
        return HALF
