"""Integers from epsilon cost what was asked: never more, and less by no more than steps of 2**-32 explain.

Ten thousand random losses and domains for each mechanism in the registry. The loss is that of `Encoder.prices`, which
on small domains is held against the laws themselves, in fractions.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from hubbub.encoders.base import SCALE, Encoder, Payload
from hubbub.mechanisms import Mechanism, registry
from hubbub.mechanisms.base import MAX_EPSILON, MIN_EPSILON
from hubbub.prf import device_prf

PAIRS = 10_000
SEARCHED = 50  # of them one in so many without the integers that take a search
SMALL = 100  # of them on domains that are small enough for their laws
MOST, BUCKETS = 65_521, 1024  # categories, and buckets where there are nothing but buckets
FEW = 8  # values whose laws are compared: all of a small domain; of words, enough for two with different places
DRAWS = 10  # of public fields
DIGITS = Context(prec=40)
PAGES = Path(__file__).parents[2] / "spec" / "mechanisms"


class Bound(NamedTuple):
    """How far below epsilon the loss may be: 2 steps (e + k - 1)² / (2**32 e) + 10^-9, e = exp(epsilon / parts)."""

    k: float = 2
    steps: float = 1
    parts: int = 1

    def at(self, epsilon: float) -> float:
        e = math.exp(epsilon / self.parts)
        return 2 * self.steps * (e + self.k - 1) ** 2 / (e * SCALE) + 1e-9


def told(odds: float, parts: int = 1) -> Bound:
    """The bound of a coin that decides between two sets of outputs, `odds` the second's size over the first's."""
    return Bound(1 + odds, parts / odds, parts)


# As they stand on the mechanisms' pages. Where all that is sent are bits, and for whatever is not named here, k is 2.
BOUNDS: Mapping[str, Callable[[Any], Bound]] = {
    "cms": lambda encoder: Bound(parts=2),
    "discrete_laplace": lambda encoder: Bound(encoder.top + 1),
    "duchi_vector": lambda encoder: told(encoder.patterns[1] / encoder.patterns[0]),
    "grr": lambda encoder: Bound(encoder.size),
    "hadamard_response": lambda encoder: told(2 * encoder.blocks - 1),
    "olh": lambda encoder: Bound(encoder.g),
    "olh_pool": lambda encoder: Bound(encoder.g),
    "piecewise": lambda encoder: Bound(encoder.window.outputs / encoder.width),
    "piecewise_vector": lambda encoder: told(encoder.window.others / encoder.width, encoder.sampled),
    "rappor": lambda encoder: Bound(steps=encoder.hashes, parts=2 * encoder.hashes),
    "square_wave": lambda encoder: told(encoder.window.others / encoder.width),
    "stochastic_grr": lambda encoder: Bound(encoder.top + 1),
    "subset_selection": lambda encoder: Bound(encoder.size),
}


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return min(high, max(low, math.exp(rng.uniform(math.log(low), math.log(high)))))


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """From low to high, small ones more often."""
    return min(high, int(log_uniform(rng, low, high + 1)))


def domain(cls: type[Mechanism], keys: Mapping[str, Any], rng: np.random.Generator, small: bool) -> dict[str, Any]:
    """A random domain where `from_epsilon` knows one of these keys, else an example."""
    found: dict[str, Any] = {}
    if "categories" in keys:
        found["categories"] = whole(rng, 2, 6 if small else MOST if "choice" in cls.kinds else BUCKETS)
    elif "upper" in keys:
        found["upper"] = whole(rng, 1, 5 if small else SCALE - 1)
    elif "bits" in keys:
        found["bits"] = 2 ** int(rng.integers(2, 3 if small else 12))
        found["hashes"] = 2 ** int(rng.integers(0, 2))
    elif "dimension" in keys:
        found |= {"dimension": whole(rng, 2, 3 if small else 32), "ticks": 1 if small else whole(rng, 1, 1000)}
    else:
        found |= cls.examples[int(rng.integers(len(cls.examples)))]
        found.pop("permanent_epsilon", None)
    return found


def tuning(keys: Mapping[str, Any], rng: np.random.Generator, size: int, small: bool) -> dict[str, Any]:
    """What is otherwise searched for, which takes far longer than all the rest."""
    found: dict[str, Any] = {}
    if "g" in keys:
        found["g"] = int(rng.choice([g for g in (2, 3, 5, 7) if g <= size]))
    if "block" in keys:
        found["block"] = 2 ** int(rng.integers(1, size.bit_length() + 1))
    if "d" in keys:
        found["d"] = whole(rng, 1, min(size, 64))
    if "agree" in keys:
        found["agree"] = size // 2 + int(rng.integers(0, 2))
    if "sampled" in keys:
        found["sampled"] = whole(rng, 1, size)
    if "levels" in keys:
        found["levels"] = whole(rng, 2, min(size, 32))
    if "outputs" in keys:
        found["outputs"] = whole(rng, 2, 4 if small else 32)
        found["width"] = whole(rng, 1, max(1, found["outputs"] // 4))
    elif "width" in keys:
        found["width"] = whole(rng, 1, size)
    return found


def mechanisms(cls: type[Mechanism], seed: int, pairs: int) -> Iterator[tuple[Mechanism, dict[str, Any]]]:
    """Random ones, and what was asked of each; the first ones small."""
    rng, keys = np.random.default_rng(seed), inspect.signature(cls.from_epsilon).parameters
    for i in range(pairs):
        epsilon = (MIN_EPSILON, MAX_EPSILON)[i] if i < 2 else log_uniform(rng, MIN_EPSILON, MAX_EPSILON)
        small = i < SMALL
        asked = {"epsilon": epsilon, **domain(cls, keys, rng, small)}
        if cls.memo and i % 2 and epsilon < 0.99 * MAX_EPSILON:
            asked["permanent_epsilon"] = log_uniform(rng, 1.01 * epsilon, MAX_EPSILON)
        if small or i % SEARCHED:
            size = asked.get("categories") or asked.get("dimension") or asked.get("upper", 1) + 1
            asked |= tuning(keys, rng, size, small)
        yield cls.from_epsilon(**asked), asked


def bound(encoder: Encoder) -> Bound:
    return BOUNDS.get(encoder.name, lambda encoder: Bound())(encoder)


def publics(encoder: Encoder, rng: np.random.Generator) -> set[Payload]:
    """Public fields as a few devices draw them; () where there are none."""
    prf = device_prf(bytes(32), "app", "app.metric", "00" * 32)

    def words(count: int) -> list[int]:
        return [int(word) for word in rng.integers(0, SCALE, count)]

    return {encoder.report(encoder.permanent(0, prf), words)[: encoder.public] for _ in range(DRAWS)}


def worst(encoder: Encoder, rng: np.random.Generator) -> Fraction:
    """Largest ratio of the chances of one payload under two values."""
    values = range(encoder.size) if encoder.size <= FEW else rng.integers(0, encoder.size, FEW).tolist()
    found = Fraction(1)
    for public in publics(encoder, rng):
        laws = [encoder.law(value, public) for value in values]
        for payload in laws[0]:
            chances = [law[payload] for law in laws]
            if max(chances):
                found = max(found, max(chances) / min(chances))
    return found


def logarithm(ratio: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).ln(DIGITS)


@pytest.mark.parametrize("name", list(registry))
def test_the_loss_is_what_was_asked(name: str) -> None:
    rng = np.random.default_rng(2)
    for i, (mechanism, asked) in enumerate(mechanisms(registry[name], 1, PAIRS)):
        encoder, epsilon = mechanism.encoder, asked["epsilon"]
        loss = encoder.prices(1).report
        assert epsilon - bound(encoder).at(epsilon) <= loss <= epsilon, asked
        if encoder.memo:
            permanent, steady = asked["permanent_epsilon"], encoder.prices(1).steady
            assert permanent - bound(encoder).at(permanent) <= steady <= permanent, asked
        if i < SMALL:
            exact = logarithm(worst(encoder, rng))
            assert exact <= Decimal(loss) <= exact * (1 + Decimal("1e-11")), asked


@pytest.mark.parametrize("name", list(registry))
def test_the_bound_stands_on_the_page(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text("utf-8")
    assert any("(2³² " in line and "+ 10⁻⁹" in line for line in page.splitlines())


def test_steps_beyond_those_would_be_seen() -> None:
    for name, change in (("randomized_response", "low"), ("oue", "lie"), ("olh", "lie"), ("grr", "keep")):
        for mechanism, asked in mechanisms(registry[name], 3, 50):
            encoder, epsilon = mechanism.encoder, asked["epsilon"]
            if bound(encoder).k == 2 and "permanent_epsilon" not in asked and epsilon < 15:
                steps = -5 if change == "keep" else 5
                off = replace(encoder, **{change: getattr(encoder, change) + steps})  # type: ignore[type-var]
                assert off.prices(1).report < epsilon - bound(off).at(epsilon), asked
