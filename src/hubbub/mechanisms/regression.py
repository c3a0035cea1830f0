"""Shares of words by weighted least squares over cells, with as few words as explain them.

A cell (row, place) has an estimate y of the share of the row's devices whose word stands there, with a variance that
follows from the share. It is never taken from the cell's own noise: a cell that errs towards the less noisy end would
count for more, and estimates would be biased. Words enter by the variances of places that are as full as on average,
and are tested by those of the shares that the words found so far give the cells.

With shares s_w of the words and u of all words that are not listed, spread evenly over the places,

    y = sum of s_w over the words that stand there + u segments / bits + noise.

Words enter while any explains what is left: all that are above `enter` standard errors, sixteen at a time, the most
significant first. After each round shares are fitted that are not negative (NNLS), and words at 0 leave for good. Then
signs are set free, so that estimates are unbiased given the list, and words leave, the least significant first, until
all that are left pass the caller's test. Standard errors come from the variances of the cells; where the cells scatter
more than these say, as words that are not listed make them, all are scaled up by how much. A word whose own cells do so
far more, as where a frequent word that is not listed falls on a few of them, gets the standard error that they show.

Source: Erlingsson, Pihur, Korolova, CCS 2014, with least squares of non-negative terms for the lasso.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.words import Shape
from hubbub.mechanisms.estimate import Ints, Reals
from hubbub.mechanisms.places import places, scores

AT_ONCE = 16  # words that enter in a round
MOST = 500  # words in a fit; at most a quarter of the cells
TWISTED = 1.5  # times its standard error that a word's own cells scatter, before that is taken instead
TINY = 1e-10  # of the largest eigenvalue: what is below says nothing

Variance = Callable[[Reals], Reals]
Passes = Callable[[Ints, Reals], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Noisy:
    """Cells and how well they are known.

    Attributes:
        cells: Estimates, shape (rows, bits).
        reports: Of each row, shape (rows, 1).
        alone: Variance of one report about a cell that has these shares.
    """

    cells: Reals
    reports: Reals
    alone: Variance

    def weights(self, shares: Reals) -> Reals:
        """(rows, bits) one over the variances if the cells have these shares; 0 in a row without reports."""
        return np.broadcast_to(self.reports / self.alone(np.clip(shares, 0, 1)), self.cells.shape)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What explains the cells.

    Attributes:
        chosen: Positions of the words among the candidates.
        share: Their shares.
        covariance: Of these, scaled up by the scatter.
    """

    chosen: Ints
    share: Reals
    covariance: Reals

    @property
    def se(self) -> Reals:
        """Standard errors of the shares."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


class _Cells:
    """Cells with weights, and what a list of words makes of them; the first term is all that is not listed."""

    def __init__(self, shape: Shape, cells: Reals, weights: Reals) -> None:
        self.shape = shape
        self.root = np.sqrt(weights).ravel()
        self.aim = self.root * cells.ravel()
        self.others = self.root * (shape.segments / shape.bits)

    def columns(self, values: Ints) -> Any:
        """(cells, k) weighted, sparse: a word has a one at each of its places."""
        from scipy.sparse import csr_array

        each = [row * self.shape.bits + places(self.shape, row, values) for row in range(self.shape.rows)]
        at = np.concatenate(each, axis=1)
        starts = np.arange(len(values) + 1) * at.shape[1]
        return csr_array((self.root[at.ravel()], at.ravel(), starts), shape=(len(values), self.root.size)).T

    def normal(self, columns: Any) -> tuple[Reals, Reals]:
        """Normal equations: (1 + k, 1 + k) products of the terms, and (1 + k,) theirs with what is to be explained."""
        return _products(self.others, columns), np.append(self.others @ self.aim, columns.T @ self.aim)

    def scattered(self, columns: Any, found: Reals) -> tuple[float, Reals]:
        """Mean square of what is not explained, and (1 + k, 1 + k) products of the terms, each cell times its own."""
        rest = self.aim - self.others * found[0] - columns @ found[1:]
        free = max(1, int(np.count_nonzero(self.root)) - len(found))
        return float(rest @ rest) / free, _products(self.others * rest, columns.multiply(rest[:, None]).tocsc())

    def expected(self, values: Ints, found: Reals) -> Reals:
        """(rows, bits) the share of each cell that a list of words gives it, the first term's share among them."""
        shape = self.shape
        cells = np.full((shape.rows, shape.bits), found[0] * shape.segments / shape.bits)
        for row in range(shape.rows):
            for at in np.asarray(places(shape, row, values)).T:
                np.add.at(cells[row], at, found[1:])
        return cells

    def left(self, columns: Any, found: Reals) -> Reals:
        """What is not explained, weighted, (rows, bits)."""
        rest = self.aim - self.others * found[0] - columns @ found[1:]
        return np.asarray((self.root * rest).reshape(self.shape.rows, self.shape.bits))


def explain(shape: Shape, noisy: Noisy, values: Ints, enter: float, passes: Passes) -> Fitted:
    """The words among `values` that explain the cells.

    Args:
        shape: Of the rows.
        noisy: The cells.
        values: (k,) of the candidates.
        enter: Standard errors above which a word enters.
        passes: From positions of words and their estimates over standard errors to whether each is to stay.
    """
    weights = noisy.weights(np.full((1, 1), shape.segments / shape.bits))
    held = _Cells(shape, noisy.cells, weights)
    norms = np.sqrt(scores(shape, weights, values))
    outside = norms > 0
    chosen, most = np.zeros(0, np.int64), min(MOST, noisy.cells.size // 4)
    columns = held.columns(values[chosen])
    while True:
        found = _not_negative(*held.normal(columns))
        left = held.left(columns, found)
        chosen, columns = chosen[found[1:] > 0], columns[:, found[1:] > 0]
        z = np.full(len(values), -np.inf)
        z[outside] = scores(shape, left, values[outside]) / norms[outside]
        new = np.flatnonzero(z > enter)
        new = new[np.argsort(-z[new], kind="stable")][: min(AT_ONCE, most - len(chosen))]
        if not new.size:
            break
        outside[new] = False
        chosen = np.concatenate([chosen, new])
        columns = held.columns(values[chosen])
    found = _not_negative(*held.normal(columns))
    tested = _Cells(shape, noisy.cells, noisy.weights(held.expected(values[chosen], found)))
    return _tested(tested, chosen, tested.columns(values[chosen]), passes)


def _tested(held: _Cells, chosen: Ints, columns: Any, passes: Passes) -> Fitted:
    """The words that stay, the least significant one leaving until all of them pass."""
    while True:
        matrix, target = held.normal(columns)
        inverse = np.linalg.pinv(matrix, hermitian=True)
        found = inverse @ target
        scatter, each = held.scattered(columns, found)
        covariance = inverse * max(1.0, scatter)
        own = np.sqrt(np.maximum(np.diag(inverse @ each @ inverse), 0) / np.diag(covariance))
        wider = np.where(own > TWISTED, own, 1.0)
        fitted = Fitted(chosen, found[1:], (covariance * np.outer(wider, wider))[1:, 1:])
        z = fitted.share / fitted.se
        if passes(chosen, z).all():
            return fitted
        stay = np.arange(len(z)) != np.argmin(z)
        chosen, columns = chosen[stay], columns[:, stay]


def _products(first: Reals, columns: Any) -> Reals:
    """(1 + k, 1 + k) products of a dense column and k sparse ones."""
    beside = columns.T @ first
    matrix = np.empty((1 + len(beside),) * 2)
    matrix[0, 0], matrix[0, 1:], matrix[1:, 0] = first @ first, beside, beside
    matrix[1:, 1:] = (columns.T @ columns).toarray()
    return matrix


def _not_negative(matrix: Reals, target: Reals) -> Reals:
    """The x >= 0 that is nearest to solving the normal equations."""
    from scipy.optimize import nnls

    size, turn = np.linalg.eigh(matrix)
    size, turn = size[size > TINY * size[-1]], turn[:, size > TINY * size[-1]]
    found: Reals = nnls((turn * np.sqrt(size)).T, turn.T @ target / np.sqrt(size))[0]
    return found
