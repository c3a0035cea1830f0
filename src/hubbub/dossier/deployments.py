"""What others have published about their own collections under local differential privacy."""

from typing import NamedTuple


class Deployment(NamedTuple):
    """One published figure.

    Attributes:
        what: Who collects what.
        epsilon: As published or as it follows from published parameters.
        unit: Of what it is the price.
        source: Where it stands.
    """

    what: str
    epsilon: str
    unit: str
    source: str


_LIST = (
    "D. Desfontaines, A list of real-world uses of differential privacy, "
    "desfontain.es/blog/real-world-differential-privacy.html; the method: Differential Privacy Team, Apple, "
    "Learning with privacy at scale, 2017"
)
_RAPPOR = (
    "Erlingsson, Pihur, Korolova, RAPPOR, CCS 2014: f = 1/2, p = 1/2, q = 3/4, 2 hashes; epsilon follows from these"
)
_DAY = "one day of one person"

DEPLOYMENTS = (
    Deployment("Apple, new words typed on the keyboard", "16", _DAY, _LIST),
    Deployment("Apple, what is done with search suggestions", "8", _DAY, _LIST),
    Deployment("Apple, popular emoji", "4", _DAY, _LIST),
    Deployment("Apple, types of health data in use", "2", _DAY, _LIST),
    Deployment("Google, RAPPOR, the paper's own parameters", "1.08", "one report", _RAPPOR),
    Deployment("Google, RAPPOR, the paper's own parameters", "4.40", "a value that never changes, for ever", _RAPPOR),
)
