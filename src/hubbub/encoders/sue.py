"""Symmetric unary encoding: every bit is wrong with the same chance, p = 1 - q, whatever it is (basic RAPPOR, once).

Source: Erlingsson, Pihur, Korolova, CCS 2014. Proofs: spec/mechanisms/sue.md.
"""

from dataclasses import dataclass
from typing import ClassVar

from hubbub.encoders.base import SCALE
from hubbub.encoders.unary import Unary


@dataclass(frozen=True)
class Sue(Unary):
    """One of `size` categories; values: their indices."""

    name: ClassVar[str] = "sue"

    @property
    def own(self) -> int:
        """Share of words that set the own category's bit."""
        return SCALE - self.lie
