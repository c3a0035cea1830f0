"""Faults of devices that have happened elsewhere, one at a time."""

from fractions import Fraction

from hubbub.encoders.base import SCALE, Answer, Law, Payload, Prf, Prices, Words, below
from hubbub.encoders.one_bit_mean import OneBitMean as MeanDevice
from hubbub.encoders.randomized_response import RandomizedResponse as YesNoDevice
from tests.conformance.planted import seen_by

# What a device does


@seen_by("check_law_is_that_of_the_code")
class AtMostInsteadOfBelow(YesNoDevice):
    def report(self, answer: Answer, words: Words) -> Payload:
        return (answer[0] ^ (words(1)[0] <= (self.flip if self.memo else self.low)),)


@seen_by("check_law_is_that_of_the_code")
class NoiseThatDependsOnTheValue(YesNoDevice):
    def report(self, answer: Answer, words: Words) -> Payload:
        return (answer[0] ^ (words(1)[0] < (self.flip if self.memo else self.low) + answer[0]),)


@seen_by("check_law_is_that_of_the_code")
class NeverClearsABit(YesNoDevice):
    def report(self, answer: Answer, words: Words) -> Payload:
        return (answer[0] | (words(1)[0] < (self.flip if self.memo else self.low)),)


@seen_by("check_law_is_that_of_the_code")
class PermanentAnswerInClear(YesNoDevice):
    def report(self, answer: Answer, words: Words) -> Payload:
        return answer if self.memo else super().report(answer, words)


@seen_by("check_loss_is_exact")
class PermanentAnswerDrawnEachTime(YesNoDevice):
    def permanent(self, value: int, prf: Prf) -> Answer:
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        permanent = answer[0] ^ (words(1)[0] < self.low)
        return (permanent ^ (words(1)[0] < self.flip) if self.memo else permanent,)


@seen_by("check_words_do_not_depend_on_values")
class OneMoreWordForYes(YesNoDevice):
    def report(self, answer: Answer, words: Words) -> Payload:
        words(answer[0])
        return super().report(answer, words)


@seen_by("check_law_is_that_of_the_code")
class AlphaRoundingSwapped(MeanDevice):
    def permanent(self, value: int, prf: Prf) -> Answer:
        if not self.memo:
            return (value,)
        entry = (value + self.bucket - 1 - below(self.bucket, prf("alpha"))) // self.bucket
        up = value // self.bucket + (entry == value // self.bucket and value % self.bucket > 0)
        return (int(prf("memo", up)(1)[0] < self.low + up * self.rise),)


@seen_by("check_law_is_that_of_the_code")
class BucketClosedAtBothEnds(MeanDevice):
    def permanent(self, value: int, prf: Prf) -> Answer:
        if not self.memo:
            return (value,)
        entry = -(-(value + below(self.bucket, prf("alpha"))) // self.bucket) - 1
        return (int(prf("memo", entry)(1)[0] < self.low + entry * self.rise),)


@seen_by("check_law_is_that_of_the_code")
class RemainderWithoutRejection(MeanDevice):
    def permanent(self, value: int, prf: Prf) -> Answer:
        if not self.memo:
            return (value,)
        entry = (value + prf("alpha")(1)[0] % self.bucket) // self.bucket
        return (int(prf("memo", entry)(1)[0] < self.low + entry * self.rise),)


# What a device says about itself


@seen_by("check_prices_cover_histories")
class MemoisationIsFree(YesNoDevice):
    def prices(self, windows: int) -> Prices:
        honest = super().prices(windows)
        return honest._replace(life=honest.steady) if self.memo else honest


@seen_by("check_loss_is_exact")
class ChangeCostsOneReport(YesNoDevice):
    def prices(self, windows: int) -> Prices:
        honest = super().prices(windows)
        return honest._replace(change=honest.report)


@seen_by("check_loss_is_exact")
class PriceRoundedDown(YesNoDevice):
    def prices(self, windows: int) -> Prices:
        honest = super().prices(windows)
        return honest._replace(report=honest.report * (1 - 1e-11))


@seen_by("check_linkage_bits")
class NothingLinksReports(YesNoDevice):
    linkage_bits = 0.0


@seen_by("check_wire")
class FieldThatDoesNotFit(YesNoDevice):
    radices = (2, 2)


@seen_by("check_canonical")
class AnIntegerForgotten(MeanDevice):
    def canonical(self) -> tuple[int, ...]:
        return (*super().canonical()[:4], 0, self.memo)


@seen_by("check_refusals")
class AnythingIsAValue(YesNoDevice):
    def permanent(self, value: int, prf: Prf) -> Answer:
        return (value ^ (prf("memo", value)(1)[0] < self.low),) if self.memo else (value,)


@seen_by("check_estimate_is_exact")
class LawOfSwappedRounding(MeanDevice):
    def law(self, value: int, public: Payload = ()) -> Law:
        down, rest = divmod(value, self.bucket)
        mean = Fraction(down * self.bucket + (self.bucket - rest if rest else 0), self.bucket)
        a, g = (self.low + mean * self.rise) / SCALE, Fraction(self.flip, SCALE)
        one = a * (1 - g) + (1 - a) * g
        return {(0,): 1 - one, (1,): one}
