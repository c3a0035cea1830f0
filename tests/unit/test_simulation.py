"""Simulated crowds: errors as they must be, and refusals."""

from pathlib import Path

import numpy as np
import pytest

from hubbub.errors import ParameterError
from hubbub.mechanisms import registry
from hubbub.simulation import DISTRIBUTIONS, cells, labels, measure, named, shares
from hubbub.simulation.run import exact_error
from tests.unit.test_cli import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


KINDS = {"boolean": {}, "mean": {"lower": 0, "upper": 20}, "choice": {"categories": 6}}
NAMES = [(name, domain) for kind, domain in KINDS.items() for name, cls in registry.items() if kind in cls.kinds]


def test_there_are_mechanisms() -> None:
    assert len(NAMES) > 5


@pytest.mark.parametrize(("name", "domain"), NAMES)
def test_the_error_is_the_exact_one(name: str, domain: dict[str, object]) -> None:
    """Five standard errors of the measured one: false alarm 6e-7 each."""
    mechanism = registry[name].from_epsilon(1.0, **domain)
    for distribution in ("zipf", "point"):
        found = measure(mechanism, named(mechanism, distribution), 2_000, 300, np.random.default_rng(3))
        assert abs(found.measured - found.exact) < 5 * found.noise
        assert 0.9 < found.coverage <= 1
        assert found.worst <= found.coverage


def test_the_exact_error_of_a_mean_holds_the_spread_of_the_crowd() -> None:
    """One bit tells nothing but the mean: two ends in equal parts err as everybody in the middle."""
    mechanism = registry["one_bit_mean"].from_epsilon(4.0, lower=0, upper=20)
    truths, truth = np.array([0.0, 20.0]), np.array(10.0)
    found = exact_error(mechanism, np.array([0.5, 0.5]), truths, truth)
    assert found == pytest.approx(float(mechanism.variance(truth, 1)))


def test_the_error_can_be_wrong() -> None:
    mechanism = registry["grr"].from_epsilon(1.0, categories=6)
    other = registry["grr"].from_epsilon(1.3, categories=6)
    found = measure(mechanism, named(mechanism, "zipf"), 2_000, 300, np.random.default_rng(3))
    wrong = measure(other, named(other, "zipf"), 2_000, 300, np.random.default_rng(3))
    assert abs(found.measured - wrong.exact) > 5 * found.noise


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_are_chances(name: str) -> None:
    for size in (2, 7, 100):
        chances = named(registry["grr"].from_epsilon(1.0, categories=size), name)
        assert chances.shape == (size,)
        assert (chances >= 0).all()
        assert chances.sum() == pytest.approx(1)


def test_a_column_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("panel,minutes\nhome,3\ncart,9\nhome,1\nnone,4\n")
    assert labels(cells(path, ["panel"])["panel"], 10) == ("home", "cart")
    assert labels(cells(path, ["panel"])["panel"], 1) == ("home",)
    mechanism = registry["grr"].from_epsilon(1.0, categories=("home", "cart"))
    assert shares(mechanism, cells(path, ["panel"])["panel"]).tolist() == [0.25, 0.5, 0.25]
    histogram = registry["grr"].from_epsilon(1.0, lower=0, upper=10, buckets=2)
    assert shares(histogram, cells(path, ["minutes"])["minutes"]).tolist() == [0.75, 0.25]
    with pytest.raises(ParameterError, match="column must be one of panel, minutes; got 'page'"):
        cells(path, ["panel", "page"])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "a CSV or Parquet file with a header"),
        ("latin.csv", b"value\nM\xfcller\n", "a CSV or Parquet file with a header"),
        ("ragged.csv", b"value\n1\n2,secret,3\n", "a CSV or Parquet file with a header"),
        ("other.parquet", b"no Parquet", "a CSV or Parquet file with a header"),
        ("head.csv", b"value\n", "a table with rows"),
    ],
)
def test_a_table_that_cannot_be_used(shell: Shell, tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert shell("simulate", "mean", "--table", name) == 2
    assert said in shell.err
    assert "Traceback" not in shell.err
    assert "secret" not in shell.err


def test_refusals() -> None:
    mechanism = registry["grr"].from_epsilon(1.0, categories=3)
    rng = np.random.default_rng(1)
    with pytest.raises(ParameterError, match="distribution must be one of uniform"):
        named(mechanism, "flat")
    with pytest.raises(ParameterError, match=r"chances.shape must be \(3,\)"):
        measure(mechanism, np.ones(4) / 4, 10, 2, rng)
    with pytest.raises(ParameterError, match=r"n must be in \[1, .*; got 0"):
        measure(mechanism, np.ones(3) / 3, 0, 1, rng)
    with pytest.raises(ParameterError, match="runs must be >= 2; got 1"):
        measure(mechanism, np.ones(3) / 3, 10, 1, rng)


def test_the_command(shell: Shell) -> None:
    assert shell("simulate", "choice", "--runs", "5", "--mechanism", "grr", "--mechanism", "oue", "--n", "1000") == 0
    assert "grr" in shell.out
    assert "oue" in shell.out
    assert "olh" not in shell.out
    assert "too few to say" in shell.out
    assert "*" not in shell.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "KIND must be one of"),
        (["choice", "--mechanism", "piecewise"], "--mechanism must be one of"),
        (["choice", "--epsilon", "17"], "--epsilon must be a number in [0.001, 16]; got 17.0"),
        (["choice", "--distribution", "flat"], "--distribution must be one of"),
        (["choice", "--categories", "1"], "--categories must be an integer in [2,"),
        (["choice", "--table", "nowhere.csv"], "nowhere.csv"),
        (["mean", "--upper", "-1"], "--upper must be"),
        (["histogram", "--categories", "1"], "--categories must be"),
        (["words", "--categories", "0"], "--categories must be an integer in [1, 100000]; got 0"),
        (["vector", "--dimension", "0"], "--dimension must be"),
        (["vector", "--norm", "-1"], "--norm must be"),
        (["mean", "--column", "minutes"], "--column must be left out without --table; got 'minutes'"),
        (["choice", "--n", "99999999999999999999"], "--n must be in [1, 1000000000000000]"),
        (["choice", "--runs", "1"], "--runs must be >= 2; got 1"),
    ],
)
def test_bad_input(shell: Shell, words: list[str], said: str) -> None:
    assert shell("simulate", *words) == 2
    assert said in shell.err
    assert "Traceback" not in shell.err
