"""Encoders: the half of each mechanism that a device runs. Standard library only."""

from hubbub.encoders.base import Encoder
from hubbub.encoders.cms import Cms
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.discrete_laplace import DiscreteLaplace
from hubbub.encoders.duchi_vector import DuchiVector
from hubbub.encoders.grr import Grr
from hubbub.encoders.hadamard_response import HadamardResponse
from hubbub.encoders.harmony import Harmony
from hubbub.encoders.hcms import Hcms
from hubbub.encoders.hybrid import Hybrid
from hubbub.encoders.olh import Olh
from hubbub.encoders.olh_pool import OlhPool
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.oue import Oue
from hubbub.encoders.piecewise import Piecewise
from hubbub.encoders.piecewise_vector import PiecewiseVector
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.encoders.rappor import Rappor
from hubbub.encoders.registering import Registry
from hubbub.encoders.square_wave import SquareWave
from hubbub.encoders.stochastic_grr import StochasticGrr
from hubbub.encoders.subset_selection import SubsetSelection
from hubbub.encoders.sue import Sue

_ALL: tuple[type[Encoder], ...] = (
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
registry: Registry[type[Encoder]] = Registry("hubbub.encoders", _ALL)
