"""What the suite runs on: each example of a mechanism at a few losses, and the small helpers of all checks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import Encoder, Law, Payload
from hubbub.mechanisms.base import MAX_EPSILON, MIN_EPSILON, Mechanism, Reports, WordSource, as_rows
from hubbub.mechanisms.estimate import Ints, Reals
from hubbub.summary import Summary
from hubbub.testing.paths import exact_law

MANY = 1 << 16  # values; of more, a few stand for all
EPSILONS = (0.01, 0.5, 1.0, 2.5, MAX_EPSILON)


@dataclass(frozen=True)
class Case:
    """One mechanism as `from_epsilon(epsilon, **domain)` builds it."""

    cls: type[Mechanism]
    epsilon: float
    domain: Mapping[str, Any]

    def __str__(self) -> str:
        domain = ", ".join(f"{key}={value}" for key, value in self.domain.items())
        return f"{self.cls.name}({', '.join(filter(None, (f'{self.epsilon:g}', domain)))})"

    @property
    def permanent_epsilon(self) -> float | None:
        """As asked; None where everything is fresh."""
        asked: float | None = self.domain.get("permanent_epsilon")
        return asked

    def build(self, factor: float = 1) -> Mechanism:
        """The mechanism, with its losses times `factor`."""
        domain = dict(self.domain)
        if self.permanent_epsilon is not None:
            domain["permanent_epsilon"] = self.permanent_epsilon * factor
        return self.cls.from_epsilon(self.epsilon * factor, **domain)


def cases(cls: type[Mechanism], epsilons: Sequence[float] = EPSILONS) -> Iterator[Case]:
    """Every example at every epsilon that its permanent_epsilon allows.

    Raises:
        AssertionError: An example is left without a case, or there is no example.
    """
    hold(len(cls.examples) > 0, f"{cls.name} has no examples")
    for domain in cls.examples:
        fitting = [e for e in epsilons if MIN_EPSILON <= e <= (domain.get("permanent_epsilon") or MAX_EPSILON)]
        hold(len(fitting) > 0, f"no epsilon of {epsilons} fits the example {domain}")
        yield from (Case(cls, epsilon, domain) for epsilon in fitting)


def hold(condition: bool, message: str) -> None:
    """Fail with the message unless the condition holds, also where `assert` is switched off.

    Raises:
        AssertionError: It does not hold.
    """
    if not condition:
        raise AssertionError(message)


def near(one: object, other: object, scale: float, what: str) -> None:
    """Fail unless two numbers or arrays agree to a billionth of `scale`.

    Raises:
        AssertionError: They do not.
    """
    a, b = np.asarray(one, float), np.asarray(other, float)
    hold(a.shape == b.shape, f"{what}: shape {a.shape} instead of {b.shape}")
    hold(bool((np.abs(a - b) <= 1e-9 * scale).all()), f"{what}: {a} instead of {b}")


def public_law(encoder: Encoder) -> dict[Payload, Fraction]:
    """Chance of each draw of the public fields, by the device's own code; {(): 1} where there are none."""
    if not encoder.public:
        return {(): Fraction(1)}
    return _public_law(type(encoder), encoder.canonical())


@lru_cache(maxsize=64)
def _public_law(cls: type[Encoder], integers: tuple[int, ...]) -> dict[Payload, Fraction]:
    encoder = cls(*integers)
    return exact_law(lambda prf, words: encoder.report(encoder.permanent(0, prf), words)[: encoder.public])


def bulk(mechanism: Mechanism, values: ArrayLike, source: WordSource) -> Reports:
    """Reports of people with these values of the encoder."""
    return mechanism.randomise(as_rows(mechanism.encoder, values), source)


def looked_at(encoder: Encoder) -> Sequence[int]:
    """Values that checks go through: every one, or the first ones and the last where there are too many."""
    return range(encoder.size) if encoder.size <= MANY else (0, 1, 2, 3, encoder.size - 1)


def simulated(mechanism: Any, counts: Ints, rng: np.random.Generator) -> Summary:
    """A summary of so many devices with each of the values that are looked at."""
    values = looked_at(mechanism.encoder)
    if len(values) == mechanism.encoder.size:
        found: Summary = mechanism.simulate(counts, rng)
    else:
        found = mechanism.simulate(counts, rng, as_rows(mechanism.encoder, values))
    return found


def laws(mechanism: Mechanism) -> Sequence[Law]:
    """The law of each value that is looked at, with its public fields: chances of one set of payloads that add up to 1.

    Raises:
        AssertionError: A chance is negative, a payload does not fit, or the sum is off.
    """
    drawn = public_law(mechanism.encoder)
    found: list[dict[Payload, Fraction]] = []
    for value in looked_at(mechanism.encoder):
        law: dict[Payload, Fraction] = {}
        for public, share in drawn.items():
            given = mechanism.law(value, public)
            fits = all(payload[: len(public)] == public for payload in given)
            hold(fits, f"the law given {public} speaks of other public fields")
            law |= {payload: share * chance for payload, chance in given.items()}
        found.append(law)
    hold(len(found) >= 2, "a mechanism needs two values or more")
    for value, law in zip(looked_at(mechanism.encoder), found, strict=True):
        hold(sum(law.values()) == 1, f"the law of value {value} adds up to {sum(law.values())}")
        hold(min(law.values()) >= 0, f"the law of value {value} has a negative chance")
        hold(law.keys() == found[0].keys(), f"the law of value {value} speaks of other payloads than that of value 0")
    return found


def as_reports(payloads: Sequence[Payload]) -> Reports:
    """Payloads as `summarise` takes them, (n, fields)."""
    return np.array(payloads, np.int64)


def one_report(mechanism: Mechanism, payload: Payload) -> Reals:
    """The estimate from a single report."""
    return mechanism.estimate(mechanism.summarise(as_reports([payload]))).value


def mean_under(mechanism: Mechanism, law: Law, power: int = 1) -> Reals:
    """Mean of the estimate from one report, raised to `power`, under a law."""
    return np.asarray(sum(float(chance) * one_report(mechanism, payload) ** power for payload, chance in law.items()))


def spread(mechanism: Mechanism) -> float:
    """Largest distance of two estimates from one report: the scale on which rounding is judged."""
    values = np.array([one_report(mechanism, payload) for payload in laws(mechanism)[0]])
    return float(np.ptp(values, axis=0).max())


def some_values(mechanism: Mechanism, count: int) -> Ints:
    """(count,) values: every one in turn."""
    return np.arange(count, dtype=np.int64) % mechanism.encoder.size


def worst_ratio(found: Sequence[Mapping[Any, Fraction]]) -> Fraction | None:
    """Largest ratio of the chances of one outcome under two laws; None if it may happen under one of them only."""
    worst = Fraction(1)
    for outcome in {outcome for law in found for outcome in law}:
        chances = [law.get(outcome, Fraction(0)) for law in found]
        if max(chances) and not min(chances):
            return None
        if max(chances):
            worst = max(worst, max(chances) / min(chances))
    return worst
