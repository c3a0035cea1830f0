"""The public suite over every registered mechanism."""

import subprocess
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from hubbub.mechanisms import registry
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.testing import Case, cases, check_mechanism, mechanism_checks
from hubbub.testing.mechanisms import CHECKS, STATISTICAL, Check

RUNS = [run for cls in registry.values() for run in mechanism_checks(cls)]


def test_it_finds_mechanisms_and_every_check_runs_on_each() -> None:
    assert registry
    for cls in registry.values():
        assert {check for check, case in RUNS if case.cls is cls} == {*CHECKS, *STATISTICAL}
        examples = [dict(case.domain) for _, case in RUNS if case.cls is cls]
        assert all(dict(example) in examples for example in cls.examples)


@pytest.mark.parametrize(("check", "case"), RUNS, ids=[f"{check.__name__}-{case}" for check, case in RUNS])
def test_mechanism(check: Check, case: Case) -> None:
    check(case)


def test_a_mechanism_without_examples_fails() -> None:
    class Empty(RandomizedResponse):
        examples: ClassVar[tuple[Mapping[str, Any], ...]] = ()

    with pytest.raises(AssertionError, match="no examples"):
        check_mechanism(Empty)


def test_an_example_that_no_epsilon_fits_fails() -> None:
    class Tight(RandomizedResponse):
        examples: ClassVar[tuple[Mapping[str, Any], ...]] = ({"permanent_epsilon": 0.005},)

    with pytest.raises(AssertionError, match="no epsilon"):
        list(cases(Tight))


def test_the_message_names_check_and_parameters() -> None:
    class Loud(RandomizedResponse):
        examples: ClassVar[tuple[Mapping[str, Any], ...]] = ({"permanent_epsilon": 2.5},)

        @property
        def epsilon(self) -> float:
            return 0.1

    with pytest.raises(
        AssertionError, match=r"check_loss_is_exact of randomized_response\(0\.5, permanent_epsilon=2\.5\)"
    ):
        check_mechanism(Loud, (0.5,))


def test_it_needs_no_test_framework_and_holds_without_assert() -> None:
    program = """
import sys
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.testing import check_mechanism
class Clipped(RandomizedResponse):
    bounds = (0.2, 0.8)
    epsilon = 0.7
check_mechanism(RandomizedResponse, (1.0,))
assert False, "asserts must be switched off here"
try:
    check_mechanism(Clipped, (1.0,))
except AssertionError:
    print(sorted({"pytest", "hypothesis", "_pytest"} & set(sys.modules)))
"""
    result = subprocess.run(
        [sys.executable, "-O", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stdout) == (0, "[]\n"), result.stderr
