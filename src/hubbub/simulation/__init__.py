"""Simulation: a mechanism's error over many crowds, measured and predicted; nothing here is a device."""

from hubbub.simulation.crowds import DISTRIBUTIONS, cells, labels, named, shares
from hubbub.simulation.run import Measured, measure
from hubbub.simulation.vectors import CoordinateMeasured, made_vectors, measure_vectors, vectors_of
from hubbub.simulation.words import Vocabulary, WordsMeasured, made_words, measure_words, words_of

__all__ = [
    "DISTRIBUTIONS",
    "CoordinateMeasured",
    "Measured",
    "Vocabulary",
    "WordsMeasured",
    "cells",
    "labels",
    "made_vectors",
    "made_words",
    "measure",
    "measure_vectors",
    "measure_words",
    "named",
    "shares",
    "vectors_of",
    "words_of",
]
