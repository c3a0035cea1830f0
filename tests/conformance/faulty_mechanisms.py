"""Faults of mechanisms that have happened elsewhere, one at a time."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from hubbub.encoders.base import SCALE
from hubbub.errors import PrivateValueError
from hubbub.mechanisms.base import Reports, WordSource, threshold
from hubbub.mechanisms.coin import Line
from hubbub.mechanisms.estimate import Estimate, Ints, Reals
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.summary import Summary
from tests.conformance.planted import seen_by

# What is made of epsilon


@seen_by("check_loss_is_exact")
class ThresholdBelowSafe(RandomizedResponse):
    @classmethod
    def from_epsilon(cls, epsilon: float, *, permanent_epsilon: float | None = None) -> Any:
        built = super().from_epsilon(epsilon, permanent_epsilon=permanent_epsilon)
        if permanent_epsilon is not None:
            return built
        return replace(built, encoder=replace(built.encoder, low=math.floor(SCALE / (math.exp(epsilon) + 1))))


@seen_by("check_loss_is_exact")
class FlipsForgotten(OneBitMean):
    @classmethod
    def from_epsilon(cls, *args: Any, **kwargs: Any) -> Any:
        built = super().from_epsilon(*args, **kwargs)
        return replace(built, encoder=replace(built.encoder, flip=0))


@seen_by("check_draws_can_fail")
class EpsilonRounded(RandomizedResponse):
    examples = ({},)

    @classmethod
    def from_epsilon(cls, epsilon: float, **kwargs: Any) -> Any:
        return super().from_epsilon(max(0.5, math.floor(epsilon * 2 + 0.2) / 2), **kwargs)


@seen_by("check_refusals")
class EpsilonClamped(RandomizedResponse):
    @classmethod
    def from_epsilon(cls, epsilon: float, **kwargs: Any) -> Any:
        clamped = min(max(epsilon, 0.001), 16) if isinstance(epsilon, int | float) and epsilon < 2000 else epsilon
        return super().from_epsilon(clamped, **kwargs)


# Bulk encoding


@seen_by("check_bulk_equals_device")
class AtMostInsteadOfBelowInBulk(RandomizedResponse):
    def randomise(self, values: Ints, source: WordSource) -> Reports:
        e = self.encoder
        words = source.words(len(values) * (1 + e.memo)).reshape(len(values), 1 + e.memo)
        bits = (words[:, 0] <= e.low) ^ values.astype(bool)
        if e.memo:
            bits ^= words[:, 1] < e.flip
        return np.asarray(bits[:, None], np.uint8)


@seen_by("check_bulk_equals_device")
class LastPersonInClear(RandomizedResponse):
    def randomise(self, values: Ints, source: WordSource) -> Reports:
        reports = super().randomise(values, source).copy()
        reports[-1:, 0] = values[-1:]
        return reports


@seen_by("check_bulk_equals_device")
class OneWordForAll(RandomizedResponse):
    def randomise(self, values: Ints, source: WordSource) -> Reports:
        e = self.encoder
        words = source.words(len(values) * (1 + e.memo)).reshape(len(values), 1 + e.memo)
        bits = (words[:1, 0] < e.low) ^ values.astype(bool)
        if e.memo:
            bits ^= words[:, 1] < e.flip
        return np.asarray(bits[:, None], np.uint8)


@seen_by("check_bulk_equals_device")
class ColumnAfterColumn(OneBitMean):
    def randomise(self, values: Ints, source: WordSource) -> Reports:
        class Transposed:
            def words(self, count: int) -> Any:
                words = source.words(count)
                return words.reshape(-1, len(values)).T.ravel() if len(values) and not count % len(values) else words

        return super().randomise(values, Transposed())


@seen_by("check_bulk_equals_device")
class RemainderWithoutRejectionInBulk(OneBitMean):
    def randomise(self, values: Ints, source: WordSource) -> Reports:
        e = self.encoder
        words = source.words(len(values) * (2 + e.memo)).reshape(len(values), 2 + e.memo)
        entry = (values + words[:, 0].astype(np.int64) % e.bucket) // e.bucket
        bits = words[:, 1] < e.low + entry * e.rise
        if e.memo:
            bits ^= words[:, 2] < e.flip
        return np.asarray(bits[:, None], np.uint8)


@seen_by("check_words_do_not_depend_on_values")
class OneMoreWordForNoInBulk(RandomizedResponse):
    def randomise(self, values: Ints, source: WordSource) -> Reports:
        reports = super().randomise(values, source)
        source.words(int(np.count_nonzero(values == 0)))
        return reports


class _Drawn(RandomizedResponse):
    """Draws with another epsilon than it says."""

    factor = 1.0

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        bits = (source.words(len(values)) < threshold(self.epsilon * self.factor)) ^ values.astype(bool)
        return np.asarray(bits[:, None], np.uint8)


@seen_by("check_draws_follow_the_law")
class TooLittleNoise(_Drawn):
    factor = 1.1


@seen_by("check_draws_follow_the_law")
class TooMuchNoise(_Drawn):
    factor = 0.9


# Estimates


@seen_by("check_estimate_is_exact")
class RangeWithoutItsLastBucket(OneBitMean):
    @property
    def line(self) -> Line:
        return replace(super().line, span=self.encoder.ticks * self.step)


@seen_by("check_estimate_is_exact")
class Clipped(OneBitMean):
    def estimate(self, summary: Summary) -> Estimate:
        honest = super().estimate(summary)
        return replace(honest, value=np.clip(honest.value, *self.bounds))


@seen_by("check_stderr")
class StandardErrorOfTheSourceText(OneBitMean):
    def estimate(self, summary: Summary) -> Estimate:
        line = self.line
        return replace(super().estimate(summary), se=np.array(line.span / math.expm1(self.epsilon) / summary.n**0.5))


@seen_by("check_stderr")
class VarianceOfGivenDevices(OneBitMean):
    def variance(self, truth: Any, n: int) -> Reals:
        low, high = self.bounds
        return np.asarray(super().variance(truth, n) - (truth - low) * (high - truth) / n)


@seen_by("check_stderr")
class SharedIsAll(RandomizedResponse):
    def estimate(self, summary: Summary) -> Estimate:
        honest = super().estimate(summary)
        return replace(honest, se_shared=honest.se)


@seen_by("check_crowd")
class NoiseForgotten(RandomizedResponse):
    def estimate(self, summary: Summary) -> Estimate:
        honest = super().estimate(summary)
        return replace(honest, crowd=replace(honest.crowd, noise=0.0))


@seen_by("check_batches_and_merges")
class CountsInAByte(RandomizedResponse):
    def summarise(self, reports: Reports) -> Summary:
        honest = super().summarise(reports)
        return Summary(honest.n, honest.counts % 256)


@seen_by("check_batches_and_merges")
class CountsAllButTheFirst(RandomizedResponse):
    def summarise(self, reports: Reports) -> Summary:
        return Summary(super().summarise(reports).n, super().summarise(reports[1:]).counts)


@seen_by("check_batches_and_merges")
class CountsWhatNobodySends(RandomizedResponse):
    def summarise(self, reports: Reports) -> Summary:
        return super().summarise((reports != 0).astype(np.uint8))


@seen_by("check_simulate")
class SimulatesTheMean(RandomizedResponse):
    def simulate(self, truth_counts: Any, rng: np.random.Generator) -> Summary:
        n = int(np.sum(truth_counts))
        ones = sum(k * self.law(v)[1,] for v, k in enumerate(np.asarray(truth_counts).tolist()))
        return Summary(n, np.array(round(ones)))


@seen_by("check_simulate")
class SimulatesASample(OneBitMean):
    def simulate(self, truth_counts: Any, rng: np.random.Generator) -> Summary:
        n = int(np.sum(truth_counts))
        rate = sum(k * float(self.law(v)[1,]) for v, k in enumerate(np.asarray(truth_counts).tolist())) / n
        return Summary(n, np.array(rng.binomial(n // 2, rate) * 2 + rng.binomial(n % 2, rate)))


@seen_by("check_refusals")
class ShowsTheValue(OneBitMean):
    def index(self, values: Any) -> Ints:
        try:
            return super().index(values)
        except PrivateValueError:
            raise PrivateValueError(f"{values} must be numbers") from None


@seen_by("check_refusals")
class TakesNotANumber(OneBitMean):
    def index(self, values: Any) -> Ints:
        return super().index(np.nan_to_num(np.asarray(values, float)))
