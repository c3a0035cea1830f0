"""Strategies of long collection: which windows a device reports, and what the ledger charges for it."""

from dataclasses import dataclass

from hubbub.encoders.base import Encoder, Prices


@dataclass(frozen=True)
class Strategy:
    """Of `members` metrics a device reports each in every r-th window, one after another."""

    name: str
    every: int
    members: int

    def charged(self, encoder: Encoder, windows: int) -> Prices:
        """The ledger's figures for so many windows, of metrics that are all encoded like this.

        Over metrics prices are summed; but of those that take turns one window changes one report only.
        """
        one = encoder.prices(-(-windows // self.every))
        return Prices(one.report, self.members * one.steady, one.change, self.members * one.life)


STRATEGIES = (
    Strategy("daily", 1, 1),
    Strategy("panel 5", 5, 1),
    Strategy("panel 28", 28, 1),
    Strategy("rotation of 6", 6, 6),
)
