"""Exact checks: loss, bias, variance and linkage are sums of fractions over the law, not samples."""

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np

from hubbub.encoders.base import Answer, Encoder, Payload
from hubbub.mechanisms.base import Mechanism
from hubbub.mechanisms.estimate import Ints
from hubbub.testing.mechanisms.cases import (
    Case,
    as_reports,
    hold,
    laws,
    looked_at,
    mean_under,
    near,
    one_report,
    public_law,
    spread,
    worst_ratio,
)
from hubbub.testing.paths import exact_law

DIGITS = Context(prec=50)
LIVES = (1, 2, 30, 9600)  # windows


def history_law(encoder: Encoder, history: tuple[int, ...]) -> dict[tuple[Payload, ...], Fraction]:
    """What a device sends that has these values in turn, by its own code."""
    return exact_law(lambda prf, words: tuple(encoder.report(encoder.permanent(v, prf), words) for v in history))


def answer_law(encoder: Encoder, value: int) -> dict[Answer, Fraction]:
    """What a device keeps for ever in place of this value."""
    return exact_law(lambda prf, _: encoder.permanent(value, prf))


def both_answers(encoder: Encoder, one: int, other: int) -> set[tuple[Answer, Answer]]:
    """What one device may keep for ever in place of each of two values."""
    return set(exact_law(lambda prf, _: (encoder.permanent(one, prf), encoder.permanent(other, prf))))


def report_law(encoder: Encoder, answer: Answer) -> dict[Payload, Fraction]:
    """What a device sends that keeps this answer."""
    return exact_law(lambda _, words: encoder.report(answer, words))


def check_law_is_that_of_the_code(case: Case) -> None:
    """`encoder.law` is, fraction by fraction, the law of what `permanent` and `report` do with their words."""
    mechanism = case.build()
    for value, law in zip(looked_at(mechanism.encoder), laws(mechanism), strict=True):
        real = history_law(mechanism.encoder, (value,))  # public fields must be drawn alike for every value
        stated = {(payload,): chance for payload, chance in law.items() if chance}
        hold(real == stated, f"value {value} is sent as {real}, its law says {stated}")
        _check_chance(mechanism.encoder, value)


def _check_chance(encoder: Encoder, value: int) -> None:
    """Where an encoder gives single chances, for laws too long to write down, they are those of its law."""
    chance = getattr(encoder, "chance", None)
    if chance is None:
        return
    for public in public_law(encoder):
        for payload, stated in encoder.law(value, public).items():
            single = chance(value, payload)
            hold(single == stated, f"chance({value}, {payload}) is {single}, its law says {stated}")


def check_loss_is_exact(case: Case) -> None:
    """Worst log ratios, over the law and over the permanent answers, are what is declared and at most what was asked.

    Brute force over the law of one report, over the law of the permanent answer (for ever), and over pairs of answers
    that one device may keep to two values (one change); mechanism and encoder state the same figures.
    """
    mechanism = case.build()
    encoder, prices = mechanism.encoder, mechanism.encoder.prices(1)
    _just_above(mechanism.epsilon, worst_ratio(laws(mechanism)), "epsilon")
    hold(mechanism.epsilon <= case.epsilon, f"epsilon is {mechanism.epsilon!r}, asked were {case.epsilon!r}")
    if case.permanent_epsilon is None:
        hold(mechanism.permanent_epsilon == math.inf, "nothing is permanent, so permanent_epsilon must be inf")
        hold(mechanism.change_epsilon == mechanism.epsilon, "nothing is permanent: a change costs one report")
    else:
        kept = [answer_law(encoder, value) for value in looked_at(encoder)]
        _just_above(mechanism.permanent_epsilon, worst_ratio(kept), "permanent_epsilon")
        asked, change = case.permanent_epsilon, mechanism.change_epsilon
        hold(mechanism.permanent_epsilon <= asked, f"permanent_epsilon is {mechanism.permanent_epsilon!r} > {asked!r}")
        sent = {answer: report_law(encoder, answer) for law in kept for answer in law}
        for one, other in combinations(looked_at(encoder), 2):
            for pair in both_answers(encoder, one, other):
                worst = worst_ratio([sent[answer] for answer in pair])
                hold(_at_least(change, worst), f"change_epsilon = {change} is below the loss of one changed answer")
        hold(prices.steady == mechanism.permanent_epsilon, "encoder.prices and permanent_epsilon differ")
    same = (prices.report, prices.change) == (mechanism.epsilon, mechanism.change_epsilon)
    hold(same, f"encoder.prices says {prices}, the mechanism {mechanism.epsilon}, {mechanism.change_epsilon}")


def check_prices_cover_histories(case: Case) -> None:
    """No two histories of two windows are told apart by more than the prices say; longer lives never cost less."""
    encoder = case.build().encoder
    prices = encoder.prices(2)
    values = sorted({0, encoder.size // 2, encoder.size - 1})
    sent = {history: history_law(encoder, history) for history in product(values, repeat=2)}
    for one, other in combinations(sent, 2):
        worst = worst_ratio([sent[one], sent[other]])
        moved = sum(a != b for a, b in zip(one, other, strict=True))
        bounds = {"life": prices.life}
        if len(set(one)) == len(set(other)) == 1:
            bounds["steady"] = prices.steady
        if moved == 1:
            bounds["change"] = prices.change
        for name, price in bounds.items():
            hold(_at_least(price, worst), f"histories {one} and {other} lose more than prices.{name} = {price}")
    lives = [encoder.prices(windows) for windows in LIVES]
    for earlier, later in pairwise(lives):
        ordered = all(a <= b for a, b in zip(earlier, later, strict=True))
        hold(ordered, f"a longer life costs less: {earlier}, then {later}")
    hold(len({(p.report, p.change) for p in lives}) == 1, "the price of one report or change depends on the life")


def check_estimate_is_exact(case: Case) -> None:
    """The mean of the estimate under the law of each value is its truth, and reports are simply averaged."""
    mechanism = case.build()
    scale = spread(mechanism)
    for value, law in zip(looked_at(mechanism.encoder), laws(mechanism), strict=True):
        near(mean_under(mechanism, law), mechanism.truth(value), scale, f"mean of the estimate at value {value}")
    payloads = list(laws(mechanism)[0])
    together = mechanism.estimate(mechanism.summarise(as_reports(payloads))).value
    alone = np.mean([one_report(mechanism, payload) for payload in payloads], axis=0)
    near(together, alone, scale, "estimate of several reports, beside the mean of their estimates")


def check_stderr(case: Case) -> None:
    """`variance` is that of the law; se² is that of the reports; se_shared² that of the answers behind them.

    The answers are permanent ones, whose variance is that of the mechanism at permanent_epsilon, or the values.
    """
    mechanism = case.build()
    scale = spread(mechanism) ** 2
    for value, law in zip(looked_at(mechanism.encoder), laws(mechanism), strict=True):
        exact = mean_under(mechanism, law, 2) - mean_under(mechanism, law) ** 2
        near(mechanism.variance(mechanism.truth(value), 1), exact, scale, f"variance at value {value}")
        near(mechanism.variance(mechanism.truth(value), 50), exact / 50, scale / 50, f"variance of 50 at value {value}")
    low, high = mechanism.bounds
    inside, payloads = 0, list(laws(mechanism)[0])
    singly = np.array([one_report(mechanism, payload) for payload in payloads])
    for times in _crowds(mechanism, 400):
        reports, each = (np.repeat(rows, times, axis=0) for rows in (as_reports(payloads), singly))
        n, estimate = len(reports), mechanism.estimate(mechanism.summarise(reports))
        near(estimate.se**2, each.var(axis=0) / n, scale / n, "se², the variance of the reports")
        if (estimate.value < low).any() or (estimate.value > high).any():
            continue
        inside += 1
        if case.permanent_epsilon is None:
            shared = (estimate.value - low) * (high - estimate.value) / n
        else:
            alone = case.cls.from_epsilon(case.permanent_epsilon, **case.domain)
            shared = alone.variance(estimate.value, n)
        near(estimate.se_shared**2, shared, scale / n, "se_shared²")
        most = np.maximum(estimate.se**2, 0 if estimate.crowd.exact else shared)
        hold(bool((estimate.se_shared**2 <= most * (1 + 1e-9)).all()), "se_shared is above se")
    hold(inside > 0, "no summary gave an estimate inside the bounds")


def check_crowd(case: Case) -> None:
    """What several windows need to know: noise + slope k is the variance of a report at a share k, or more of it."""
    mechanism = case.build()
    scale = spread(mechanism) ** 2
    crowd = mechanism.estimate(mechanism.summarise(as_reports(list(laws(mechanism)[0])))).crowd
    for value in looked_at(mechanism.encoder):
        truth = mechanism.truth(value)
        kept = (truth - crowd.zero) / crowd.scale
        stated = crowd.scale**2 * (crowd.noise + crowd.slope * kept + kept * (1 - kept))
        exact = mechanism.variance(truth, 1)
        if crowd.exact:
            near(stated, exact, scale, f"noise and slope at value {value}")
        hold(bool((stated >= exact - 1e-9 * scale).all()), f"noise and slope fall short at value {value}")


def check_linkage_bits(case: Case) -> None:
    """Two reports of one steady device share at most `public_bits` and `linkage_bits`, whatever crowd it stands in."""
    encoder = case.build().encoder
    joint = [history_law(encoder, (value, value)) for value in looked_at(encoder)]
    shares, each = np.linspace(0, 1, 11), np.eye(len(joint))
    crowds = [np.full(len(joint), 1 / len(joint))]
    for a, b in combinations(each, 2):
        crowds += [share * a + (1 - share) * b for share in shares]
    for crowd in crowds:
        mixed: dict[tuple[Payload, ...], float] = {}
        for share, law in zip(crowd, joint, strict=True):
            for pair, chance in law.items():
                mixed[pair] = mixed.get(pair, 0.0) + share * float(chance)
        bits, declared = _mutual_information(mixed), encoder.public_bits + encoder.linkage_bits
        hold(bits <= declared + 1e-12, f"two reports share {bits} bits in the crowd {crowd}, declared are {declared}")


def _mutual_information(joint: dict[tuple[Payload, ...], float]) -> float:
    first: dict[Payload, float] = {}
    second: dict[Payload, float] = {}
    for (a, b), chance in joint.items():
        first[a] = first.get(a, 0.0) + chance
        second[b] = second.get(b, 0.0) + chance
    return math.fsum(c * math.log2(c / (first[a] * second[b])) for (a, b), c in joint.items() if c)


def _crowds(mechanism: Mechanism, n: int) -> list[Ints]:
    """About n reports, how many of each payload: the average of each value, of all values, and as many of each."""
    found = laws(mechanism)
    payloads = list(found[0])
    chances = np.array([[float(law[payload]) for payload in payloads] for law in found])
    same = np.full(len(payloads), 1 / len(payloads))
    return list(np.rint(n * np.vstack([chances, chances.mean(axis=0), same])).astype(np.int64))


def _logarithm(ratio: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).ln(DIGITS)


def _at_least(price: float, ratio: Fraction | None) -> bool:
    return price == math.inf if ratio is None else Decimal(price) >= _logarithm(ratio)


def _just_above(price: float, ratio: Fraction | None, what: str) -> None:
    if ratio is None:
        hold(price == math.inf, f"{what} = {price}, but some outcome is possible for one value only")
    else:
        exact = _logarithm(ratio)
        hold(exact <= Decimal(price) <= exact * (1 + Decimal("1e-11")), f"{what} = {price!r}, by brute force {exact}")
