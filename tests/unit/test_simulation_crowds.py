"""Simulated crowds of words and vectors: errors beside exact ones, what is found, tables, the command."""

import json
from pathlib import Path

import numpy as np
import pytest

from hubbub.cli import output
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms import registry
from hubbub.mechanisms.vector import Vectors
from hubbub.mechanisms.words import Words
from hubbub.simulation import (
    Vocabulary,
    cells,
    made_vectors,
    made_words,
    measure_vectors,
    measure_words,
    vectors_of,
    words_of,
)
from hubbub.simulation import words as simulated
from hubbub.simulation.crowds import weights
from tests.unit.test_cli import Shell

WORDS = {"rappor": {"bits": 32, "cohorts": 4}, "cms": {"bits": 32, "hashes": 4}, "hcms": {"bits": 32, "hashes": 4}}
VECTORS = [name for name, cls in registry.items() if "vector" in cls.kinds]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    output.log.cache_clear()
    return Shell(capsys)


def of_words(name: str, epsilon: float = 3.0) -> Words:
    mechanism = registry[name].from_epsilon(epsilon, **WORDS[name])
    assert isinstance(mechanism, Words)
    return mechanism


def of_vectors(name: str, **domain: int) -> Vectors:
    mechanism = registry[name].from_epsilon(2.0, **domain)
    assert isinstance(mechanism, Vectors)
    return mechanism


def test_every_mechanism_for_words_is_here() -> None:
    assert sorted(WORDS) == sorted(name for name, cls in registry.items() if "words" in cls.kinds)


@pytest.mark.parametrize("name", WORDS)
def test_words_err_as_they_must_and_are_found(name: str) -> None:
    """Five standard errors of the measured one: false alarm 6e-7 each."""
    mechanism, crowd = of_words(name), Vocabulary(["grep", "make", "", "rare"], np.array([0.5, 0.3, 0.199, 0.001]))
    found = measure_words(mechanism, crowd, 2_000, 60, np.random.default_rng(3))
    other = measure_words(of_words(name, 2.0), crowd, 2_000, 60, np.random.default_rng(3))
    assert abs(found.measured - found.exact) < 5 * found.noise < abs(other.exact - found.exact)
    assert found.candidates == 6  # three of the crowd, three that nobody has
    assert found.floor == mechanism.detection_floor(2_000, 6)
    assert (found.above, found.recall) == (2, 1)  # far above the floor: found in every crowd
    assert 2 <= found.shown < 2.3
    assert found.precision > 0.95
    assert found.wrong < 0.2  # 0.05 at most: 12 of 60 crowds have a chance of 1e-4
    assert found.held > 0.8


def test_floor_and_shares_decide_what_is_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is above the floor of a few devices, and shares of nothing are 1."""
    crowd = Vocabulary(["grep", "make"], np.array([0.5, 0.5]))
    found = measure_words(of_words("cms", 0.1), crowd, 10, 2, np.random.default_rng(3))
    assert (found.above, found.shown, found.recall, found.precision, found.held) == (0, 0, 1, 1, 1)
    monkeypatch.setattr(simulated, "MOST_WORDS", 2)
    with pytest.raises(ParameterError, match=r"categories must be an integer in \[1, 2\]; got 3"):
        made_words(3, "zipf")


def test_made_words_and_those_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = made_words(3, "zipf")
    assert list(made.words) == ["word 1", "word 2", "word 3"]
    assert made.chances.tolist() == weights(3, "zipf").tolist()
    path = tmp_path / "table.csv"
    path.write_text('word,n\n007,1\n"",2\n007,3\nNA,4\n')
    read = words_of(cells(path, ["word"], text=True)["word"])
    assert dict(zip(read.words, read.chances.tolist(), strict=True)) == {"007": 0.5, "": 0.25, "NA": 0.25}
    monkeypatch.setattr(simulated, "MOST_WORDS", 2)
    with pytest.raises(ParameterError, match="column must be one of at most 2; got '3 different words'"):
        words_of(cells(path, ["word"], text=True)["word"])


@pytest.mark.parametrize("name", VECTORS)
def test_coordinates_err_as_they_must(name: str) -> None:
    """Five standard errors of the measured one: false alarm 6e-7 each."""
    mechanism, rng = of_vectors(name, dimension=3, norm=2), np.random.default_rng(3)
    crowd = made_vectors(mechanism, "zipf", rng)
    for one in measure_vectors(mechanism, crowd, ["a", "b", "c"], 1_000, 100, rng):
        assert abs(one.measured - one.exact) < 5 * one.noise
        assert one.coverage > 0.8


@pytest.mark.parametrize("name", VECTORS)
def test_the_exact_error_of_a_coordinate_is_that_of_the_law(name: str) -> None:
    """A crowd of two devices that differ: every report of each, by its chance, against the mean of both."""
    mechanism = registry[name].from_epsilon(2.0, dimension=2, ticks=1)
    assert isinstance(mechanism, Vectors)
    crowd = np.array([[0, 1], [1, 1]])
    truth = (2 * crowd - 1).mean(axis=0)
    found = measure_vectors(mechanism, crowd, ["a", "b"], 1, 2, np.random.default_rng(3))
    size = mechanism.encoder.size
    values = {tuple(mechanism.encoder.coordinates(value)): value for value in range(size)}
    error = np.zeros(2)
    for vector in crowd.tolist():
        for payload, chance in _laws(mechanism, values[tuple(vector)]):
            (row,) = [mechanism.estimate(mechanism.summarise(np.array([payload])))]
            error += chance / 2 * (row.value - truth) ** 2
    assert [one.exact for one in found] == pytest.approx(error.tolist(), rel=1e-9)


def _laws(mechanism: Vectors, value: int) -> list[tuple[tuple[int, ...], float]]:
    """Payloads with their chances, over the public fields, which are even."""
    encoder = mechanism.encoder
    publics = list(np.ndindex(*encoder.radices[: encoder.public]))
    laws = [mechanism.law(value, tuple(map(int, public))) for public in publics]
    return [(tuple(payload), float(chance) / len(laws)) for law in laws for payload, chance in law.items()]


def test_made_vectors_have_the_named_distribution_in_each_coordinate() -> None:
    mechanism = of_vectors("harmony", dimension=2, ticks=4)
    crowd = made_vectors(mechanism, "exponential", np.random.default_rng(3))
    assert crowd.shape == (1000, 2)
    for place in range(2):
        shares = np.bincount(crowd[:, place], minlength=5) / 1000
        assert shares == pytest.approx(weights(5, "exponential"), abs=2e-3)
    assert (crowd[:, 0] != crowd[:, 1]).any()


def test_vectors_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n-1,1,x\n0.5,9,y\n")
    mechanism = of_vectors("harmony", dimension=2, ticks=4)
    assert vectors_of(mechanism, cells(path, ["b", "a"])).tolist() == [[4, 0], [4, 3]]
    with pytest.raises(PrivateValueError, match="values must be 2 numbers for each person"):
        vectors_of(mechanism, cells(path, ["a", "c"]))
    with pytest.raises(ParameterError, match=r"names must be 2 names; got \['a'\]"):
        measure_vectors(mechanism, np.array([[0, 1]]), ["a"], 10, 2, np.random.default_rng(3))


def test_words_on_the_command_line(shell: Shell, tmp_path: Path) -> None:
    asked = "--n", "2000", "--epsilon", "3", "--runs", "2", "--mechanism", "rappor"
    assert shell("simulate", "words", "--categories", "5", *asked) == 0
    for said in ("of shares of places", "words found among 10 candidates", "detection floor", "recall"):
        assert said in " ".join(shell.out.split())
    assert "…" not in shell.out
    assert max(map(len, shell.out.splitlines())) <= 80
    (tmp_path / "table.csv").write_text("word\n" + "grep\n" * 3 + "make\n")
    assert shell("simulate", "words", "--table", "table.csv", "--column", "word", *asked, "--json") == 0
    (found,) = json.loads(shell.out)
    assert (found["mechanism"], found["candidates"], found["above"]) == ("rappor", 4, 2)


def test_vectors_on_the_command_line(shell: Shell, tmp_path: Path) -> None:
    asked = "--n", "100", "--runs", "2", "--mechanism", "harmony", "--mechanism", "duchi_vector"
    assert shell("simulate", "vector", "--dimension", "3", *asked) == 0
    rows = [line.split()[:2] for line in shell.out.splitlines() if line.split()[:1] in (["harmony"], ["duchi_vector"])]
    assert rows == [[name, str(place)] for name in ("harmony", "duchi_vector") for place in range(3)]
    assert shell("simulate", "vector", "--dimension", "40", "--n", "10", "--runs", "2", "--json") == 0
    assert "duchi_vector is left out: --dimension must be" in shell.err
    assert {one["mechanism"] for one in json.loads(shell.out)} == {"harmony", "piecewise_vector"}
    assert shell("simulate", "vector", "--dimension", "40", *asked) == 2
    (tmp_path / "table.csv").write_text("a,b\n-1,1\n1,1\n")
    assert shell("simulate", "vector", "--table", "table.csv", "--column", "b", "--column", "a", *asked, "--json") == 0
    assert [one["coordinate"] for one in json.loads(shell.out)] == ["b", "a", "b", "a"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mean", "--column", "a", "--column", "b"], "--column must be given once for the kind mean; got 'a, b'"),
        (["vector", "--column", "a", "--column", "d"], "--column must be one of a, b, c; got 'd'"),
        (["vector", "--column", "a", "--column", "c"], "values must be 2 numbers"),
        (["vector", "--column", "c"], "--column must be given for each of two or more coordinates; got 'c'"),
        (["choice", "--column", "b"], "--column must be a column with labels; got 'b'"),
        (["words", "--column", "a", "--runs", "1"], "--runs must be >= 2; got 1"),
        (["words", "--column", "a", "--n", "0"], "--n must be in [1,"),
    ],
)
def test_tables_that_do_not_fit(shell: Shell, tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "table.csv").write_text("a,b,c\n1,,secret\n")
    assert shell("simulate", *words, "--table", "table.csv") == 2
    assert said in shell.err
    assert "secret" not in shell.err
    assert "Traceback" not in shell.err
