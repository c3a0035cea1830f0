"""The behavioural contract of SDKs (spec/contract): scenarios, a collector that misbehaves, and what must then hold.

An SDK takes part through an adapter: a program that reads commands and writes answers, one JSON object a line.
"""

from hubbub.testing.contract.runner import ContractError, run
from hubbub.testing.contract.scenarios import Scenario, load

__all__ = ["ContractError", "Scenario", "load", "run"]
