"""The suite sees every planted fault, in the check named beside it."""

from typing import Any

import pytest

from hubbub.testing import check_mechanism, mechanism_checks
from hubbub.testing.mechanisms import CHECKS, STATISTICAL
from tests.conformance import faulty_devices, faulty_mechanisms
from tests.conformance.planted import MUTANTS, Mean, YesNo


def test_there_are_faults_for_every_check() -> None:
    assert {module for _, _, module in MUTANTS} == {faulty_devices.__name__, faulty_mechanisms.__name__}
    assert {check for check, _, _ in MUTANTS} == {check.__name__ for check in (*CHECKS, *STATISTICAL)}


@pytest.mark.parametrize("sound", [Mean, YesNo])
def test_what_carries_the_faults_is_sound(sound: Any) -> None:
    check_mechanism(sound, (1.0,))


@pytest.mark.parametrize(("name", "mutant", "module"), MUTANTS, ids=[mutant.__name__ for _, mutant, _ in MUTANTS])
def test_the_fault_is_seen(name: str, mutant: Any, module: str) -> None:
    seen = []
    for check, case in mechanism_checks(mutant, (0.5, 1.0, 2.5)):
        if check.__name__ == name:
            try:
                check(case)
            except AssertionError as error:
                seen.append(str(error))
    assert seen
    assert all(seen)
