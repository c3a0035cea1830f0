"""Expected numbers from 50-digit arithmetic, to 10⁻⁶, of the mechanisms for words."""

from collections.abc import Callable

import pytest

from hubbub.encoders.base import SCALE
from hubbub.mechanisms.cms import Cms
from hubbub.mechanisms.hcms import Hcms
from hubbub.mechanisms.rappor import Rappor
from tests.unit.testvalues import complete

GROUPS = {"RAPPOR", "CMS", "HCMS"}


def paper(f: float, p: float, q: float, hashes: int) -> Rappor:
    return Rappor.from_probabilities(f, p, q, bits=32, hashes=hashes, cohorts=1)


def apple(mechanism: type[Cms] | type[Hcms]) -> Cms | Hcms:
    return mechanism.from_epsilon(4, bits=1024, hashes=65_536)


def count_error() -> float:
    """Standard deviation of the number of devices whose filter has one bit, where it is 0 of 10 000."""
    mechanism = paper(0.5, 0.5, 0.75, 1)
    return float(mechanism.variance(0, 10_000) ** 0.5) * 10_000


ROWS: dict[str, tuple[str, Callable[[], float]]] = {
    "T040": ("2.197224577336", lambda: paper(0.5, 0.5, 0.75, 1).permanent_epsilon),
    "T041": ("1.074285864167", lambda: paper(0.5, 0.5, 0.75, 2).epsilon),
    "T042": ("4.394449154672", lambda: paper(0.5, 0.5, 0.75, 2).permanent_epsilon),
    "T043": ("1.021651247532", lambda: paper(0.5, 0.25, 0.75, 1).epsilon),
    "T045": ("0.9727661015479", lambda: paper(0.45, 0.39, 0.61, 2).epsilon),
    "T046": ("4.947050508596", lambda: paper(0.45, 0.39, 0.61, 2).permanent_epsilon),
    "T048": ("396.8626966597", count_error),
    "T050": ("0.1192029220221", lambda: apple(Cms).encoder.flip / SCALE),
    "T051": ("1823.387130471", lambda: float(apple(Cms).word_variance(100, 10_000, 10**6))),
    "T052": ("10681.07503202", lambda: float(apple(Hcms).word_variance(100, 10_000, 10**6))),
}


@pytest.mark.parametrize("identity", ROWS)
def test_value(identity: str) -> None:
    value, compute = ROWS[identity]
    assert compute() == pytest.approx(float(value), rel=1e-6)


def test_no_row_is_forgotten() -> None:
    complete(GROUPS, ROWS)


def test_the_detection_floor_of_the_paper() -> None:
    """1 000 000 reports, 100 words: 1.31 % by one bit; both bits of a word together see a root of two further."""
    both = paper(0.5, 0.5, 0.75, 2)
    assert both.detection_floor(10**6, 100) * 2**0.5 == pytest.approx(0.0131, rel=0.04)
