"""Mechanisms: exact laws, bulk encoding, summaries and unbiased estimates. Needs numpy."""

from hubbub.encoders import registry as encoders
from hubbub.encoders.registering import Registry
from hubbub.lock import MILLION, Metric
from hubbub.mechanisms.base import Mechanism, SystemWords, WordSource
from hubbub.mechanisms.cms import Cms
from hubbub.mechanisms.d_bit_flip import DBitFlip
from hubbub.mechanisms.discrete_laplace import DiscreteLaplace
from hubbub.mechanisms.duchi_vector import DuchiVector
from hubbub.mechanisms.estimate import Estimate
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.hadamard_response import HadamardResponse
from hubbub.mechanisms.harmony import Harmony
from hubbub.mechanisms.hcms import Hcms
from hubbub.mechanisms.hybrid import Hybrid
from hubbub.mechanisms.olh import Olh
from hubbub.mechanisms.olh_pool import OlhPool
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.oue import Oue
from hubbub.mechanisms.piecewise import Piecewise
from hubbub.mechanisms.piecewise_vector import PiecewiseVector
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.mechanisms.rappor import Rappor
from hubbub.mechanisms.square_wave import SquareWave
from hubbub.mechanisms.stochastic_grr import StochasticGrr
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub.mechanisms.sue import Sue
from hubbub.summary import Summary

__all__ = ["Estimate", "Mechanism", "Summary", "SystemWords", "WordSource", "of_metric", "register", "registry"]

_ALL: tuple[type[Mechanism], ...] = (
    RandomizedResponse,
    OneBitMean,
    DiscreteLaplace,
    Hybrid,
    Piecewise,
    StochasticGrr,
    Grr,
    HadamardResponse,
    Olh,
    OlhPool,
    Oue,
    Sue,
    SubsetSelection,
    DBitFlip,
    SquareWave,
    Cms,
    Hcms,
    Rappor,
    DuchiVector,
    Harmony,
    PiecewiseVector,
)
registry: Registry[type[Mechanism]] = Registry("hubbub.mechanisms", _ALL)


def register(cls: type[Mechanism]) -> type[Mechanism]:
    """Make a mechanism of another package known in this process, with its encoder; usable as a decorator.

    A package that is installed brings its own by entry points of the groups "hubbub.mechanisms" and "hubbub.encoders".

    Raises:
        ParameterError: A name that is taken.
    """
    encoders.register(type(cls.from_epsilon(1.0, **cls.examples[0]).encoder))
    registry.register(cls)
    return cls


def of_metric(metric: Metric) -> Mechanism:
    """The mechanism that reads the reports of a locked metric."""
    mechanism = registry[metric.encoder.name]
    grid = metric.lower / MILLION, metric.step / MILLION
    return mechanism.from_encoder(metric.encoder, lower=grid[0], step=grid[1], labels=metric.labels)
