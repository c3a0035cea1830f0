"""What is true of pretend devices: the numbers that the estimates of a window are estimates of."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hubbub.estimates.active import AMONG
from hubbub.lock import MILLION
from hubbub.mechanisms import of_metric
from hubbub.replay.pretend import Flags, Habits, Names, Reals, Said, Values
from hubbub.store.catalogue import Definition


class Truth(NamedTuple):
    """One number.

    Attributes:
        category: Of what, as rows name it: a label, bucket, coordinate or word; empty where a metric has one number.
        raw: In the unit, or as a share.
        clipped: The same of values clipped to the range: all that the metric can see.
    """

    category: str
    raw: float
    clipped: float


def truths(habits: Habits, said: Said, among: Flags, *, second: bool = False) -> Iterator[Truth]:
    """What is true of some devices, in the order of the categories; of words, those that anybody has.

    Args:
        habits: Theirs.
        said: What all devices said in the window.
        among: (devices,) which of them are meant, at least one.
        second: Whether the metric is a mean with a second report, so that there is a mean among the active.
    """
    values, kind = said.values[among], habits.metric.kind
    if kind == "boolean":
        share = float(values.mean())
        yield Truth("", share, share)
    elif kind == "mean":
        clipped = _clipped(habits, values)
        yield Truth("", float(values.mean()), float(clipped.mean()))
        active = said.recorded[among]
        if second and active.any():
            yield Truth(AMONG, float(values[active].mean()), float(clipped[active].mean()))
    elif kind == "vector":
        names, clipped = Definition(habits.metric).categories, _clipped(habits, values)
        columns = values.mean(axis=0).tolist(), clipped.mean(axis=0).tolist()
        yield from map(Truth, names, *columns)
    elif isinstance(habits, Names):
        counts = np.bincount(values, minlength=len(habits.names))
        told = np.flatnonzero(counts[1:]) + 1 if kind == "words" else np.arange(len(counts))
        for place, share in zip(told.tolist(), (counts[told] / len(values)).tolist(), strict=True):
            yield Truth(habits.names[place], share, share)
    else:
        yield from _buckets(habits, values)


def _clipped(habits: Habits, values: Values) -> Reals:
    """(n,) or (n, dimension) numbers as the metric can see them."""
    lower, step = habits.metric.lower / MILLION, habits.metric.step / MILLION
    return np.asarray(lower + step * of_metric(habits.metric).index(values))


def _buckets(habits: Habits, values: Values) -> Iterator[Truth]:
    """Shares of the devices in each bucket, those beyond the range in none of them and in the first or last."""
    definition = Definition(habits.metric)
    size, lower = habits.metric.encoder.size, habits.metric.lower / MILLION
    upper = lower + size * habits.metric.step / MILLION
    place = definition.mechanism.index(values)
    within = (lower <= values) & (values <= upper)
    raw, clipped = (np.bincount(part, minlength=size) / len(values) for part in (place[within], place))
    yield from map(Truth, definition.categories, raw.tolist(), clipped.tolist())
