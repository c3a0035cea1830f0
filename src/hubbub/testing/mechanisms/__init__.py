"""Conformance of mechanisms: run `check_mechanism(YourMechanism)`, or each of `CHECKS` on each of `cases`."""

from collections.abc import Callable, Iterator, Sequence

from hubbub.mechanisms.base import Mechanism
from hubbub.testing.mechanisms.bulk import check_bulk_equals_device, check_words_do_not_depend_on_values
from hubbub.testing.mechanisms.cases import EPSILONS, Case, cases
from hubbub.testing.mechanisms.draws import (
    LEAST,
    MOST,
    check_draws_can_fail,
    check_draws_follow_the_law,
    check_simulate,
)
from hubbub.testing.mechanisms.forms import check_batches_and_merges, check_canonical, check_refusals, check_wire
from hubbub.testing.mechanisms.laws import (
    check_crowd,
    check_estimate_is_exact,
    check_law_is_that_of_the_code,
    check_linkage_bits,
    check_loss_is_exact,
    check_prices_cover_histories,
    check_stderr,
)

__all__ = ["CHECKS", "STATISTICAL", "Case", "Check", "cases", "check_mechanism", "mechanism_checks"]

Check = Callable[[Case], None]

CHECKS: tuple[Check, ...] = (
    check_law_is_that_of_the_code,
    check_loss_is_exact,
    check_prices_cover_histories,
    check_estimate_is_exact,
    check_stderr,
    check_crowd,
    check_linkage_bits,
    check_bulk_equals_device,
    check_words_do_not_depend_on_values,
    check_batches_and_merges,
    check_refusals,
    check_canonical,
    check_wire,
)
STATISTICAL: tuple[Check, ...] = (check_draws_follow_the_law, check_draws_can_fail, check_simulate)


def mechanism_checks(cls: type[Mechanism], epsilons: Sequence[float] = EPSILONS) -> Iterator[tuple[Check, Case]]:
    """Every check beside every case it applies to; statistical ones where so many draws show a tenth of epsilon."""
    for case in cases(cls, epsilons):
        yield from ((check, case) for check in CHECKS)
        if LEAST <= case.epsilon <= MOST:
            yield from ((check, case) for check in STATISTICAL)


def check_mechanism(cls: type[Mechanism], epsilons: Sequence[float] = EPSILONS) -> None:
    """Hold a mechanism to its contract, over `cls.examples` at a few losses.

    Raises:
        AssertionError: What failed, for which parameters, and by how much.
    """
    for check, case in mechanism_checks(cls, epsilons):
        try:
            check(case)
        except AssertionError as error:
            raise AssertionError(f"{check.__name__} of {case}: {error}") from error
