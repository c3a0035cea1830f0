"""The interval for the mean of several windows covers what it says; the full simulation is `benchmarks.windows`.

The fleets of the simulation follow the encoders exactly. Coverage is required to be 0.945 less four standard errors of
the simulation: a false alarm of 3e-5 for a cell at 0.945, with a fixed seed.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from benchmarks.windows import LEAST, LEVEL, Cell, Result, cells, measure, mechanism, ways
from hubbub.encoders.base import SCALE
from hubbub.testing.mechanisms.laws import history_law

DRAWS = 8000


def memoised(kind: str, buckets: int = 1) -> Cell:
    return Cell(kind, 1.0, 2.0, buckets, "steady", 0.5, 3, 1, 100)


@pytest.mark.parametrize(
    ("cell", "path"),
    [
        (memoised("share"), (1, 1, 0)),
        (memoised("mean"), (0, 100, 400)),
        (memoised("mean"), (300, 300, 300)),
        (memoised("mean", 4), (0, 130, 480)),
    ],
)
def test_fleets_follow_the_encoder(cell: Cell, path: tuple[int, ...]) -> None:
    encoder = mechanism(cell).encoder
    flip = encoder.flip / SCALE
    law: dict[tuple[int, ...], float] = {}
    for way, chance in ways(cell, path).items():
        for sent in product((0, 1), repeat=len(path)):
            noise = math.prod(flip if bit != kept else 1 - flip for bit, kept in zip(sent, way, strict=True))
            law[sent] = law.get(sent, 0.0) + chance * noise
    exact = history_law(encoder, path)
    assert {sum(exact.values())} == {Fraction(1)}
    for sent, chance in law.items():
        assert chance == pytest.approx(float(exact[tuple((bit,) for bit in sent)]), rel=1e-9)


def measured() -> list[Result]:
    rng = np.random.default_rng(20_261_206)
    whole, launch = ([cell for cell in cells(quick=True) if (cell.fleet == "launch") == late] for late in (False, True))
    return [measure(cell, DRAWS, rng) for cell in (*whole[::6], *launch)]


def test_coverage() -> None:
    results = measured()
    assert {r.cell.behaviour for r in results} == {
        "steady",
        "alike",
        "drifting",
        "crossing",
        "jumping",
        "launching",
        "rising",
    }
    assert {r.cell.mechanism for r in results} == {"mean", "share"}
    assert {(r.cell.windows, r.cell.every) for r in results} == {(7, 1), (7, 7), (28, 1), (28, 7)}
    allowed = LEAST - 4 * math.sqrt(LEVEL * (1 - LEVEL) / DRAWS)
    for result in results:
        assert result.covered >= allowed, result.cell.name
        assert math.isnan(result.apart) or result.apart >= allowed, result.cell.name
    # What it would be blind to: intervals that are too narrow, or wide without need.
    assert min(r.plain for r in results) < allowed
    assert max(r.naive for r in results if r.cell.behaviour == "steady" and r.cell.windows == 28) < 0.95
    steady = [r for r in results if r.cell.behaviour == "steady" and r.cell.size == 10_000]
    assert max(r.width for r in steady if r.cell.fleet == "whole") < 1.12
    assert max(r.width for r in steady if r.cell.fleet == "launch") < 1.8
