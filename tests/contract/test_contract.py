"""The Python SDK under the behavioural contract (spec/contract), and the contract under SDKs that break it."""

import sys
from pathlib import Path

import pytest

from hubbub.definitions import build, load
from hubbub.lock import dump
from hubbub.testing.contract import ContractError, Scenario, run
from hubbub.testing.contract import load as scenarios
from hubbub.testing.contract.device import python_adapter
from tests.contract.broken import FAULTS

CONTRACT = Path(__file__).parents[2] / "spec" / "contract"
NOTICED = {
    "silent": "values/null_when_idle",
    "cookie": "sending/one_report_per_request",
    "gives_up": "sending/kept_and_sent_again[503]",
    "insists": "sending/dropped[400]",
    "deaf": "consent/denied",
    "forgetful": "life/restart_keeps_what_is_permanent",
    "forgives": "life/restored_backup_without_a_metric",
    "starts_afresh": "life/cloned",
    "impatient": "life/clock_of_1970_and_a_wait",
    "names_itself": "sending/one_report_per_request",
}
LOCKS = sorted((CONTRACT / "locks").glob("*.toml"))


@pytest.mark.parametrize("scenario", scenarios(CONTRACT), ids=str)
def test_python(scenario: Scenario, tmp_path: Path) -> None:
    run(scenario, python_adapter(), tmp_path)


@pytest.mark.parametrize("toml", LOCKS, ids=lambda path: path.stem)
def test_locks_are_built_from_what_stands_beside_them(toml: Path) -> None:
    assert toml.with_suffix(".lock").read_text("utf-8") == dump(build(load(toml)))


@pytest.mark.parametrize("fault", FAULTS)
def test_broken_sdks_are_noticed(fault: str, tmp_path: Path) -> None:
    noticed = NOTICED[fault]
    (scenario,) = (one for one in scenarios(CONTRACT) if one.name == noticed)
    with pytest.raises(ContractError, match=noticed.partition("[")[0]):
        run(scenario, [sys.executable, "-m", "tests.contract.broken", fault], tmp_path)
