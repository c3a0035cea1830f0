"""Bulk encoding is what devices do: row i from the same words, persons in order, permanent words first.

A word that is refused is drawn again at once by a device and after the whole block in bulk, so a device is given the
replacement right after the refused word.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE, Encoder, Payload
from hubbub.mechanisms.base import Mechanism
from hubbub.mechanisms.estimate import Ints
from hubbub.testing.mechanisms.cases import MANY, Case, bulk, hold, looked_at, some_values
from hubbub.testing.words import GeneratorWords, ReplayWords

SEED = 20_261_201
PEOPLE = 200
GRID = 33  # words tried from the smallest to the largest, to find where an answer changes
PLACES = 3  # such changes looked at for each value and word
NOTHING = np.zeros(0, np.uint32)
LAST = SCALE - 1  # refused by any rejection that refuses anything


class Row:
    """One person's words in the order in which a device asks for them, permanent or fresh.

    Attributes:
        used: Words asked for so far.
    """

    def __init__(self, words: Sequence[int]) -> None:
        self._words = words
        self.used = 0

    def __call__(self, count: int) -> Sequence[int]:
        """The next `count` words.

        Raises:
            AssertionError: None are left.
        """
        self.used += count
        hold(self.used <= len(self._words), f"a device uses more than the {len(self._words)} words of bulk encoding")
        return self._words[self.used - count : self.used]

    def prf(self, purpose: str, *key: int) -> "Row":
        """The same row: this person is encoded once, so no permanent word is asked for twice."""
        return self


def device(encoder: Encoder, value: int, words: Sequence[int]) -> Payload:
    """What a device sends from exactly these words.

    Raises:
        AssertionError: It uses more of them, or fewer.
    """
    row = Row(words)
    payload = encoder.report(encoder.permanent(value, row.prf), row)
    hold(row.used == len(words), f"a device uses {row.used} words, bulk encoding {len(words)}")
    return payload


def width(mechanism: Mechanism) -> int:
    """Words that bulk encoding takes for one person if none is refused."""
    source = ReplayWords(np.zeros(100_000, np.uint32))
    bulk(mechanism, some_values(mechanism, 1), source)
    return source.used


def check_bulk_equals_device(case: Case) -> None:
    """Row for row and word for word, also at the words where an answer changes and at those that are refused."""
    mechanism = case.build()
    rng = np.random.default_rng(SEED)
    wide = width(mechanism)
    values = some_values(mechanism, PEOPLE)
    nobody = bulk(mechanism, values[:0], ReplayWords([]))
    hold(nobody.shape == (0, len(mechanism.encoder.radices)), f"no people give reports of shape {nobody.shape}")
    words = _safe(mechanism, rng, (PEOPLE, wide))
    _compare(mechanism, values, words)
    _compare(
        mechanism, values, np.where(rng.random(words.shape) < 0.5, 0, _safe_below(mechanism.encoder)).astype(np.uint32)
    )
    for place in range(wide):
        words = _safe(mechanism, rng, (PEOPLE, wide))
        words[rng.random(PEOPLE) < 0.3, place] = LAST
        later = _safe(mechanism, rng, (2 * PEOPLE,))
        later[0] = LAST
        _compare(mechanism, values, words, later, place)
        for value in looked_at(mechanism.encoder):
            for row in _edges(mechanism.encoder, value, place, _safe(mechanism, rng, (wide,)).tolist()):
                _compare(mechanism, np.array([value]), np.array([row], np.uint32), np.zeros(1, np.uint32), place)


def check_words_do_not_depend_on_values(case: Case) -> None:
    """How many words a device or bulk encoding uses says nothing about the value."""
    mechanism = case.build()
    wide = width(mechanism)
    words = _safe(mechanism, np.random.default_rng(SEED), (50, wide)).tolist()
    used = set()
    for value in looked_at(mechanism.encoder):
        source = GeneratorWords(np.random.default_rng(SEED))
        bulk(mechanism, np.full(1000, value), source)
        used.add(source.used)
        for row in words:
            device(mechanism.encoder, value, row)
    hold(len(used) == 1, f"1000 people use {sorted(used)} words, depending on their value")


def _safe_below(encoder: Encoder) -> int:
    """Words below it are refused by no rejection, since none has more outcomes than values or a field."""
    size = encoder.size if encoder.size <= MANY else 0  # no word alone draws one of more
    return SCALE - 2 * max(size, *encoder.radices)


def _safe(mechanism: Mechanism, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.uint32]:
    """Words that no rejection refuses."""
    return rng.integers(0, _safe_below(mechanism.encoder), shape, dtype=np.uint32)


def _compare(
    mechanism: Mechanism,
    values: Ints,
    words: NDArray[np.uint32],
    later: NDArray[np.uint32] = NOTHING,
    place: int = 0,
) -> None:
    """Hold bulk encoding of `words`, shape (n, width), against a device for each person.

    `later` holds what comes after the block, for persons whose word at `place` is refused.
    """
    encoder = mechanism.encoder
    source = ReplayWords(np.concatenate([words.ravel(), later]))
    reports = bulk(mechanism, values, source)
    hold(reports.shape == (len(values), len(encoder.radices)), f"the reports have the shape {reports.shape}")
    again: list[list[int]] = [[] for _ in values]
    left = later[: source.used - words.size].tolist()
    refused = np.flatnonzero(words[:, place] > _safe_below(encoder)).tolist()
    while left and refused:
        for person in refused:
            hold(len(left) > 0, "bulk encoding draws some refused words again and others not")
            again[person].append(left.pop(0))
        refused = [person for person in refused if again[person][-1] > _safe_below(encoder)]
    hold(not left, f"bulk encoding draws {len(left)} words again that were not refused")
    rows = [[*row[: place + 1], *new, *row[place + 1 :]] for row, new in zip(words.tolist(), again, strict=True)]
    for person, (value, row) in enumerate(zip(values.tolist(), rows, strict=True)):
        sent, found = device(encoder, value, row), tuple(reports[person].tolist())
        hold(sent == found, f"person {person}, value {value}, words {row}: a device sends {sent}, bulk {found}")


def _edges(encoder: Encoder, value: int, place: int, row: list[int]) -> Iterator[list[int]]:
    """The row with the words at `place` at and around which the payload changes, and the two ends."""

    def with_word(word: int) -> list[int]:
        return [*row[:place], word, *row[place + 1 :]]

    def sent(word: int) -> Payload:
        words = Row([*with_word(word), *[0] * len(row)])
        return encoder.report(encoder.permanent(value, words.prf), words)

    places = 0
    for low, high in pairwise(round(LAST * i / (GRID - 1)) for i in range(GRID)):
        if sent(low) == sent(high) or places == PLACES:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if sent(middle) != sent(low) else (middle, high)
        yield from (with_word(word) for word in (low, high, min(high + 1, LAST)))
        places += 1
    yield from (with_word(word) for word in (0, LAST))
