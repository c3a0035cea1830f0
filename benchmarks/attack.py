"""Whether anybody who links all reports of a device learns more than the ledger says.

Devices live through one of two histories of values: the same value for ever, or another; histories that differ in one
window, in the worst place that is known; one that goes to and fro and one that stays; two random walks. Half of them
live through the one and half through the other, and all of them report daily, in turns of 5 and of 28, or six metrics
of the same kind take turns. The attacker knows everything but which of the two it was, has all reports linked, and
computes the exact log likelihood ratio: nobody can do better. It must stay within the price that the ledger charges for
such histories, and the share of devices of which the attacker believes the right one within what the price makes of
even odds. Without the second round the same attacker is certain of a stated share of the devices that moved.

Where reports are not linked beforehand: `benchmarks.linking`.
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.support import page
from benchmarks.support.histories import CERTAIN, Reals, certain, log_ratios, publics, sites, values_of
from benchmarks.support.turns import STRATEGIES, Strategy
from hubbub.encoders.base import SCALE, Encoder, Prices
from hubbub.encoders.grr import Grr
from hubbub.encoders.rappor import Rappor
from hubbub.mechanisms import registry
from hubbub.privacy import nats, percent, posterior, visible

SEED = 20_261_207
EPSILON, PERMANENT = 1.0, 2.0
HISTORIES, FEW = 1_000_000, 20_000  # of each scheme and strategy; with --quick
BLOCKS = 20  # of histories, each with its own public fields and two walks
ALARMS = 0.01  # share of the others that may be suspected
ROUNDING = 1e-9  # what the attacker's own sums may be off by, out of the whole
VALUES = 5
CHANCE = (
    "±: two standard errors, at most, of such a share where the attacker gets all that the price allows; what lies "
    "above that by less is chance, and the price is not beaten."
)
KINDS = ("constant", "one window", "to and fro", "random walks")
SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    "grr": ("grr", {"categories": VALUES}),
    "oue": ("oue", {"categories": VALUES}),
    "sue": ("sue", {"categories": VALUES}),
    "olh_pool": ("olh_pool", {"categories": VALUES}),
    "d_bit_flip d=3": ("d_bit_flip", {"categories": VALUES, "d": 3}),
    "rappor, 2 hashes": ("rappor", {"bits": 8, "hashes": 2, "cohorts": 2}),
    "one_bit_mean": ("one_bit_mean", {"lower": 0, "upper": VALUES - 1}),
    "one_bit_mean, 2 buckets": ("one_bit_mean", {"lower": 0, "upper": VALUES - 1, "bucket": (VALUES - 1) // 2}),
    "randomized_response": ("randomized_response", {}),
}


@dataclass(frozen=True)
class Cell:
    scheme: str
    memo: bool
    strategy: Strategy
    windows: int

    @property
    def name(self) -> str:
        return f"{self.scheme} {'memo' if self.memo else 'fresh'}, {self.strategy.name}, {self.windows} days"


@dataclass(frozen=True)
class Outcome:
    """What the attacker of one kind of histories got, beside what the price allows.

    Attributes:
        most: The largest log ratio, nats.
        price: What the ledger charges for such histories, nats.
        right: Share of devices of which the attacker believes the right history; of ties half.
        caught: Share of the first history that is recognised where one in a hundred of the other is suspected.
        over: Histories whose log ratio is above the price.
    """

    kind: str
    histories: int
    most: float
    price: float
    right: float
    caught: float
    over: int

    @property
    def beaten(self) -> bool:
        """Whether the attacker got more than the price allows: of shares, more than chance explains in 1 of 30 000."""
        caught = 4 * math.sqrt(2 * ALARMS / self.histories) * (1 + math.exp(min(self.price, 5)))
        return (
            self.over > 0
            or self.right > posterior(self.price) + 4 * math.sqrt(0.25 / self.histories)
            or self.caught > catchable(self.price) + caught
        )


def catchable(price: float) -> float:
    """The most that can be recognised where a hundredth of the others is suspected."""
    return min(1.0, ALARMS * math.exp(min(price, 50)), 1 - (1 - ALARMS) * math.exp(-price))


def noise(price: float, histories: int) -> tuple[float, float]:
    """Standard errors of both shares of an attacker who gets all that the price allows, half the histories of each.

    Of those caught there is the chance of being among them, and that of where the line of the alarms is drawn: it moves
    them by the odds at it, e^price, or e^-price where all but what the price hides are caught. Where many ratios lie on
    the line itself it is less.
    """
    right, caught = posterior(price), catchable(price)
    odds = math.exp(price if caught < 1 - (1 - ALARMS) * math.exp(-price) else -price)
    alarms = odds**2 * ALARMS * (1 - ALARMS)
    return math.sqrt(right * (1 - right) / histories), math.sqrt((caught * (1 - caught) + alarms) * 2 / histories)


def encoder_of(scheme: tuple[str, dict[str, Any]], memo: bool) -> Encoder:
    name, keys = scheme
    return registry[name].from_epsilon(EPSILON, permanent_epsilon=PERMANENT if memo else None, **keys).encoder


def pair(kind: str, values: range, windows: int, every: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Two histories of these values."""
    reports = -(-windows // every)
    turn = [window // every for window in range(windows)]
    low, high = values[0], values[-1]
    match kind:
        case "constant":
            return [low] * windows, [high] * windows
        case "one window":  # the others show the permanent answers to both values first
            first = [low if t < reports // 2 else high for t in turn]
            other = list(first)
            other[(reports - 1) * every] = low
            return first, other
        case "to and fro":
            return [(low, high)[t % 2] for t in turn], [low] * windows
    first, other = (_walk(values, windows, rng) for _ in range(2))
    return first, other


def _walk(values: range, windows: int, rng: np.random.Generator) -> list[int]:
    place, path = int(rng.integers(len(values))), []
    for step in rng.integers(-1, 2, windows).tolist():
        place = min(len(values) - 1, max(0, place + step))
        path.append(values[place])
    return path


def price_of(kind: str, prices: Prices, differing: int) -> float:
    """What the ledger says of histories that differ in so many reports."""
    bounds = [prices.life, differing * prices.change]
    return min(*bounds, prices.steady) if kind == "constant" else min(bounds)


def attack(cell: Cell, kind: str, histories: int) -> Outcome:
    encoder = encoder_of(SCHEMES[cell.scheme], cell.memo)
    rng = np.random.default_rng([SEED, *f"{cell.name} {kind}".encode()])
    strategy = cell.strategy
    prices = strategy.charged(encoder, cell.windows)
    known = [sites(encoder, public) for public in publics(encoder)]
    parts, over, price, most = [], 0, 0.0, 0.0
    for block in range(BLOCKS):
        first, other = pair(kind, values_of(encoder), cell.windows, strategy.every, rng)
        ranks = range(strategy.members)
        said = [(first[rank :: strategy.every], other[rank :: strategy.every]) for rank in ranks]
        ratios = sum(log_ratios(known[block % len(known)], *one, histories // BLOCKS // 2, rng) for one in said)
        assert not isinstance(ratios, int)
        differing = sum(a != b for one in said for a, b in zip(*one, strict=True))
        allowance = price_of(kind, prices, differing)
        over += int((np.abs(ratios) > allowance * (1 + ROUNDING)).sum())
        price, most = max(price, allowance), max(most, certain(ratios))
        parts.append(ratios)
    right, caught = judged(np.concatenate(parts, axis=1))
    return Outcome(kind, sum(part.size for part in parts), most, price, right, caught, over)


def judged(ratios: Reals) -> tuple[float, float]:
    """Share of devices, (2, n), that are believed to be what they are; share that is caught."""
    sign = np.array([[1], [-1]])
    right = float(((ratios * sign > 0) + (ratios == 0) / 2).mean())
    line = np.quantile(ratios[1], 1 - ALARMS)
    spare = (ALARMS - (ratios[1] > line).mean()) / max((ratios[1] == line).mean(), 1e-12)
    return right, float((ratios[0] > line).mean() + spare * (ratios[0] == line).mean())


def unflipped(encoder: Encoder) -> Encoder:
    """The same without its second round."""
    if isinstance(encoder, Grr):
        return replace(encoder, again=SCALE)
    if isinstance(encoder, Rappor):
        return replace(encoder, zero=0, one=SCALE)
    return replace(encoder, flip=0)  # type: ignore[type-var]


def moved(scheme: str, histories: int) -> tuple[float, float]:
    """Share of devices that moved for good of which the attacker is certain, without flips; and the exact share."""
    encoder = unflipped(encoder_of(SCHEMES[scheme], True))
    rng = np.random.default_rng([SEED, *f"unflipped {scheme}".encode()])
    low, high = values_of(encoder)[0], values_of(encoder)[-1]
    first, other = [low] * 15 + [high] * 15, [low] * 30
    drawn = publics(encoder)
    ratios = [log_ratios(sites(encoder, public), first, other, histories // len(drawn), rng)[0] for public in drawn]
    share = visible(encoder, low, high)
    assert share is not None
    return float((np.concatenate(ratios) > CERTAIN).mean()), float(share)


def cells(quick: bool) -> Iterator[Cell]:
    for scheme, (_, keys) in SCHEMES.items():
        for memo in (True,) if "bucket" in keys else (True, False):
            for strategy in STRATEGIES:
                spans = ((6, 30, 84, 365) if strategy.every == 1 else (84, 365)) if not quick else (84,)
                for windows in spans:
                    yield Cell(scheme, memo, strategy, windows)


def outcomes_table(found: Sequence[tuple[Cell, list[Outcome]]]) -> str:
    head = ("scheme, strategy, days", *(f"{kind}: most; right; caught" for kind in KINDS))
    rows = [(cell.name, *map(_shown, each)) for cell, each in found]
    return page.table(head, rows)


def _shown(one: Outcome) -> str:
    most = percent(one.price), f"{100 * catchable(one.price):.1f} %"
    shares = zip((one.right, one.caught), most, noise(one.price, one.histories), strict=True)
    told = (f"{100 * share:.1f} of {_bounded(bound, error)}" for share, bound, error in shares)
    return "; ".join((f"{one.most:.3f} of {nats(one.price)}", *told))


def _bounded(bound: str, error: float) -> str:
    """What the price allows with two standard errors in points, where they show: `73.2 ± 0.18 %`."""
    around = f"{200 * error:.2f}"
    return bound if around == "0.00" or not bound.endswith(" %") else f"{bound.removesuffix(' %')} ± {around} %"


def report(
    about: str,
    histories: int,
    found: Sequence[tuple[Cell, list[Outcome]]],
    shown: Mapping[str, tuple[float, float]],
) -> str:
    return "\n\n".join(
        [
            f"{about}. ε = {EPSILON:g}, permanent ε = {PERMANENT:g}, {histories} histories for each row, all reports "
            "linked. Most: the largest log likelihood ratio of any of them, in nats, of the price. Right: of how many "
            "per cent of the devices the attacker, who held both to be equally likely, believes the right one, of the "
            "most that the price allows. Caught: of how many per cent the first history is recognised where 1 % of the "
            f"others may be suspected, of the most that the price allows. {CHANCE}",
            outcomes_table(found),
            "Without the second round (no bound), a device that moved for good, 30 days: share of which the attacker "
            "is certain, and that share exactly.",
            page.table(
                ("scheme", "certain of", "exactly"),
                [(name, f"{100 * seen:.2f} %", f"{100 * exact:.2f} %") for name, (seen, exact) in shown.items()],
            ),
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description="An attacker beside the prices.")
    parser.add_argument("--quick", action="store_true", help="fewer histories and spans")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/reference/benchmarks.md")
    options = parser.parse_args(argv)
    about, start = page.machine(), time.monotonic()
    histories = FEW if options.quick else HISTORIES
    chosen = list(cells(options.quick))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [[pool.submit(attack, cell, kind, histories // len(KINDS)) for kind in KINDS] for cell in chosen]
        moving = {scheme: pool.submit(moved, scheme, histories) for scheme in SCHEMES}
        found = []
        for done, (cell, parts) in enumerate(zip(chosen, jobs, strict=True), 1):
            found.append((cell, [part.result() for part in parts]))
            if done % 10 == 0:
                print(f"{done} of {len(chosen)} cells, {time.monotonic() - start:.0f} s", file=sys.stderr)
        shown = {name: job.result() for name, job in moving.items()}
    longest = [one for one in found if one[0].windows == chosen[-1].windows]
    if options.write:
        page.write("attack", report(about, histories, longest, shown))
    if not options.json:
        print(report(about, histories, found, shown))
    every = [(cell, one) for cell, each in found for one in each]
    beaten = [f"{cell.name}, {one.kind}" for cell, one in every if one.beaten]
    off = [
        name
        for name, (seen, exact) in shown.items()
        if abs(seen - exact) > 4.5 * (exact * (1 - exact) / histories) ** 0.5
    ]
    last = {
        "benchmark": "attack",
        "about": about,
        "cells": len(every),
        "histories": sum(one.histories for _, one in every),
        "over": sum(one.over for _, one in every),
        "beaten": beaten,
        "nearest": {
            kind: round(max(one.most / one.price for _, one in every if one.kind == kind and one.price), 4)
            for kind in KINDS
        },
        "certain_without_flips": {name: round(seen, 4) for name, (seen, _) in shown.items()},
        "off": off,
        "seconds": round(time.monotonic() - start),
        "pass": not beaten and not off,
    }
    print(json.dumps(last, ensure_ascii=False))
    return 0 if last["pass"] else 1


if __name__ == "__main__":
    sys.exit(main())
