"""Which mechanism a definition gets: the one it names, or the best one within its limits (mechanisms/choosing.py)."""

from functools import lru_cache
from typing import Any

from hubbub.definitions.checks import mechanisms_for, millionths, steps
from hubbub.definitions.models import Definition
from hubbub.lock import MILLION
from hubbub.mechanisms import registry
from hubbub.mechanisms.choosing import Choice, choose
from hubbub.windows import midnight, windows


def select(definition: Definition) -> Choice:
    """The mechanism, and every one that was looked at.

    Raises:
        ParameterError: None fits.
    """
    cut = windows(definition.window)
    life = cut.inside(midnight(definition.starts.isoformat()), midnight(definition.expires.isoformat()))
    reports = definition.reports
    most = definition.max_change, definition.max_life
    change, lifelong = (None if limit is None else limit / reports for limit in most)
    return _selected(
        definition.kind,
        definition.epsilon / reports,
        None if definition.permanent is None else definition.permanent / reports,
        (definition.mechanism,) if definition.mechanism else tuple(_candidates(definition)),
        (definition.max_bits, change, lifelong),
        -(-len(life) // definition.report_every),
        tuple(sorted(_domain(definition).items())),
    )


@lru_cache(maxsize=256)
def _selected(
    kind: str,
    epsilon: float,
    permanent: float | None,
    names: tuple[str, ...],
    limits: tuple[int | None, float | None, float | None],
    reports: int,
    domain: tuple[tuple[str, Any], ...],
) -> Choice:
    bits, change, life = limits
    return choose(
        kind,
        epsilon,
        permanent_epsilon=permanent,
        max_bits=bits,
        max_change=change,
        max_life=life,
        windows=reports,
        among={name: registry[name] for name in names},
        **dict(domain),
    )


def _candidates(definition: Definition) -> list[str]:
    names = mechanisms_for(definition.kind, definition.strategy)
    return names if definition.bucket is None else [name for name in names if name == "one_bit_mean"]


def _domain(definition: Definition) -> dict[str, Any]:
    """The domain as devices count it: steps of a mean from 0 or of each coordinate, numbers of buckets, labels."""
    if definition.kind == "choice":
        return {"categories": tuple(definition.categories or ())}
    if definition.kind == "histogram":
        return {"categories": definition.buckets}
    if definition.kind == "words":
        sizes = {"bits": definition.bits, "hashes": definition.hashes, "cohorts": definition.cohorts}
        return {key: size for key, size in sizes.items() if size is not None}
    if definition.kind == "vector":
        return {"dimension": definition.dimension, "ticks": steps(millionths(definition.norm or 0))}
    if definition.kind != "mean":
        return {}
    span = millionths(definition.upper or 0) - millionths(definition.lower or 0)
    ticks = {"lower": 0, "upper": span // millionths(definition.step)}  # exact: on a grid of whole steps
    return ticks if definition.bucket is None else ticks | {"bucket": definition.bucket}


def grid(definition: Definition) -> tuple[int, int]:
    """Lower end and width of a step or bucket, in millionths of the unit."""
    if definition.kind == "vector":
        norm = millionths(definition.norm or 0)
        return -norm, 2 * norm // steps(norm)
    if definition.kind not in ("mean", "histogram"):
        return 0, MILLION
    lower = millionths(definition.lower or 0)
    if definition.kind == "mean":
        return lower, millionths(definition.step)
    return lower, (millionths(definition.upper or 0) - lower) // (definition.buckets or 1)
