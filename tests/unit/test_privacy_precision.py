"""The same precision by other strategies, for every mechanism of means."""

from dataclasses import replace

import pytest

from hubbub.errors import ParameterError
from hubbub.lock import Metric
from hubbub.mechanisms import registry
from hubbub.privacy import strategies
from hubbub.privacy.precision import PANEL
from tests.unit.test_privacy import metric

MEANS = [name for name, cls in registry.items() if "mean" in cls.kinds]


def fresh(name: str, epsilon: float, report_every: int = 1, upper: int = 100) -> Metric:
    """A mean of a day, everything drawn afresh."""
    encoder = registry[name].from_epsilon(epsilon, upper=upper).encoder
    return replace(metric(epsilon, None), encoder=encoder, report_every=report_every)


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_fresh_noise_every_day_is_found_from_a_panel_of_its_precision(name: str, epsilon: float) -> None:
    """A panel has the precision of some daily metric: that one, asked for its own precision as a panel, finds it."""
    told = fresh(name, epsilon)
    panel = next(line for line in strategies(told) if line.key == "panel")
    assert panel.epsilon is not None
    assert panel.margin == pytest.approx(strategies(told)[0].margin, rel=1e-5)
    assert panel.epsilon > epsilon
    back = next(line for line in strategies(fresh(name, panel.epsilon, PANEL)) if line.key == "fresh")
    assert back.epsilon == pytest.approx(epsilon, rel=1e-3)


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_fewer_reports_need_more_epsilon(name: str, epsilon: float) -> None:
    found = {line.key: line for line in strategies(fresh(name, epsilon, 5))}
    reached = [found[key].epsilon or 0 for key in ("fresh", "own", "rotation", "panel")]
    assert 0 < reached[0] < reached[1] < reached[2] < reached[3]
    margins = [line.margin for line in found.values()]
    assert margins == pytest.approx(len(found) * [found["own"].margin], rel=1e-5)


def test_figures_of_the_default_mechanism() -> None:
    """By the rule of estimates/combining.py, reckoned by another hand."""
    five, one, two = (strategies(fresh("hybrid", *each, upper=480)) for each in ((2, 5), (1, 1), (2, 1)))
    reached = {line.key: line.epsilon for line in five}
    assert [reached[key] for key in ("fresh", "rotation", "panel")] == pytest.approx([0.913, 2.18, 3.80], abs=0.006)
    assert [line.key for line in one] == [line.key for line in two] == ["own", "panel", "rotation"]
    assert one[1].epsilon == pytest.approx(4.03, abs=0.006)
    assert one[1].life == pytest.approx(13 * 4.03, abs=0.1)
    assert two[2].epsilon == pytest.approx(4.37, abs=0.006)


def test_a_life_of_one_report_costs_that_report() -> None:
    own = strategies(metric(1, 2, expires="2026-12-02"))[0]
    assert (own.reports, own.epsilon, own.steady, own.change, own.life) == (1, 1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("devices", [0, 1.5, True, 10**12 + 1])
def test_devices_are_a_number_of_them(devices: int) -> None:
    with pytest.raises(ParameterError, match="devices must be an integer in"):
        strategies(metric(1, 2), devices)
