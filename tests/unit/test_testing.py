"""The tools of the public suites: sources of words, and exact laws from code."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.base import SCALE, Prf, Words, below
from hubbub.errors import ParameterError
from hubbub.testing import GeneratorWords, ReplayWords, exact_law, paths


def test_replayed_words_come_in_order() -> None:
    source = ReplayWords(np.array([[1, 2], [SCALE - 1, 4]]))
    assert source.words(3).tolist() == [1, 2, SCALE - 1]
    assert source.used == 3
    assert source.words(0).tolist() == []
    with pytest.raises(ParameterError, match=r"count must be in \[0, 1\], the words that are left; got 2"):
        source.words(2)
    assert source.words(1).dtype == np.uint32
    with pytest.raises(ParameterError, match="count"):
        source.words(-1)


@pytest.mark.parametrize("words", [[SCALE], [-1]])
def test_replayed_words_are_words(words: list[int]) -> None:
    with pytest.raises(OverflowError):
        ReplayWords(words)


def test_generated_words_repeat() -> None:
    one, other = (GeneratorWords(np.random.default_rng(5)) for _ in range(2))
    words = one.words(10_000)
    assert words.tolist() == other.words(10_000).tolist()
    assert (words.dtype, one.used) == (np.dtype(np.uint32), 10_000)
    assert words.max() > 0.99 * SCALE


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.Philox, np.random.SFC64, np.random.MT19937])
def test_generated_words_are_those_of_one_by_one(kind: type[np.random.BitGenerator]) -> None:
    """However many are asked for at a time, and whatever else is drawn in between."""
    shared, plain = (np.random.Generator(kind(5)) for _ in range(2))
    source = GeneratorWords(shared)
    for count in (0, 1, 4096, 5001, 2, 5000, 7, 4097, 1, 999):
        words = source.words(count)
        assert (words.dtype, words.shape) == (np.dtype(np.uint32), (count,))
        assert words.tolist() == [int(plain.integers(0, SCALE, dtype=np.uint32)) for _ in range(count)]
        assert shared.binomial(100, 0.5) == plain.binomial(100, 0.5)


def test_a_comparison_has_its_exact_share() -> None:
    assert exact_law(lambda _, words: words(1)[0] < 3) == {True: Fraction(3, SCALE), False: 1 - Fraction(3, SCALE)}
    assert exact_law(lambda _, words: words(1)[0] <= 3)[True] == Fraction(4, SCALE)
    assert exact_law(lambda _, words: words(1)[0] > 3)[True] == 1 - Fraction(4, SCALE)
    assert exact_law(lambda _, words: words(1)[0] >= 3)[True] == 1 - Fraction(3, SCALE)
    assert exact_law(lambda _, words: words(1)[0] < 0) == {False: 1}
    assert exact_law(lambda _, words: words(1)[0] < SCALE) == {True: 1}


def test_a_word_is_one_number_however_often_it_is_looked_at() -> None:
    def twice(_: Prf, words: Words) -> tuple[bool, bool]:
        word = words(1)[0]
        return word < 10, word < 20

    assert exact_law(twice) == {
        (True, True): Fraction(10, SCALE),
        (False, True): Fraction(10, SCALE),
        (False, False): 1 - Fraction(20, SCALE),
    }


def test_a_remainder_has_its_exact_share() -> None:
    law = exact_law(lambda _, words: words(1)[0] % 3)
    assert law == {0: Fraction(SCALE // 3 + 1, SCALE), 1: Fraction(SCALE // 3, SCALE), 2: Fraction(SCALE // 3, SCALE)}

    def small(_: Prf, words: Words) -> int:
        word = words(1)[0]
        return word % 3 if word < 4 else 9

    assert exact_law(small) == {
        0: Fraction(2, SCALE),
        1: Fraction(1, SCALE),
        2: Fraction(1, SCALE),
        9: 1 - Fraction(4, SCALE),
    }


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000])
def test_a_rejected_word_is_drawn_again(bound: int) -> None:
    assert exact_law(lambda _, words: below(bound, words)) == {value: Fraction(1, bound) for value in range(bound)}


def test_words_are_independent_and_permanent_ones_are_the_same_each_time() -> None:
    half = SCALE // 2

    def run(prf: Prf, words: Words) -> tuple[bool, ...]:
        return (
            words(1)[0] < half,
            words(1)[0] < half,
            prf("a", 1)(1)[0] < half,
            prf("a", 1)(1)[0] < half,
            prf("a", 2)(1)[0] < half,
        )

    law = exact_law(run)
    assert len(law) == 16
    assert set(law.values()) == {Fraction(1, 16)}
    assert all(outcome[2] == outcome[3] for outcome in law)


@pytest.mark.parametrize(
    "misuse",
    [
        lambda word: word == 3,
        lambda word: word != 3,
        lambda word: bool(word),
        lambda word: [0, 1][word],
        lambda word: word + 1,
        lambda word: word >> 31,
        lambda word: word & 1,
        lambda word: int(word),
        lambda word: hash(word),
        lambda word: (word % 3, word % 5),
        lambda word: (word % 3, word < 9),
    ],
)
def test_anything_else_fails_loudly(misuse: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        exact_law(lambda _, words: misuse(words(1)[0]))


def test_too_many_paths_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "MAX_PATHS", 1000)
    assert len(exact_law(lambda _, words: tuple(word < 5 for word in words(9)))) == 512
    with pytest.raises(ValueError, match="more than 1000 paths"):
        exact_law(lambda _, words: tuple(word < 5 for word in words(10)))
