"""Mechanisms: exact laws, bulk encoding, summaries and unbiased estimates. Needs numpy."""

from collections.abc import Mapping

from hubbub.lock import MILLION, Metric
from hubbub.mechanisms.base import Estimate, Mechanism, SystemWords, WordSource
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.summary import Summary

__all__ = ["Estimate", "Mechanism", "Summary", "SystemWords", "WordSource", "of_metric", "registry"]

_ALL: tuple[type[Mechanism], ...] = (RandomizedResponse, OneBitMean)
registry: Mapping[str, type[Mechanism]] = {cls.name: cls for cls in _ALL}


def of_metric(metric: Metric) -> Mechanism:
    """The mechanism that reads the reports of a locked metric."""
    mechanism = registry[metric.encoder.name]
    grid = metric.lower / MILLION, metric.step / MILLION
    return mechanism.from_encoder(metric.encoder, lower=grid[0], step=grid[1], labels=metric.labels)
