"""Public suites that hold parts of hubbub, and parts made elsewhere, to their contracts; no test framework needed.

Example:
    from hubbub.testing import check_mechanism

    def test_mine():
        check_mechanism(MyMechanism)
"""

from hubbub.testing.mechanisms import Case, cases, check_mechanism, mechanism_checks
from hubbub.testing.paths import exact_law
from hubbub.testing.stores import STORE_CHECKS, check_store
from hubbub.testing.words import GeneratorWords, ReplayWords

__all__ = [
    "STORE_CHECKS",
    "Case",
    "GeneratorWords",
    "ReplayWords",
    "cases",
    "check_mechanism",
    "check_store",
    "exact_law",
    "mechanism_checks",
]
