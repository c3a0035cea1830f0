"""The attacker who links all reports of one device: exact log likelihood ratios between two histories of its values.

Reports of every mechanism here come from a few *sites*, independent of one another: a report's one field, or each of
its bits. A value leads to one of a site's entries; an entry holds a permanent answer, drawn once, and each report sends
that answer through fresh noise. Without permanent answers the entry's answer is the value itself. So what was sent has
the chance

    product over sites of E over hidden of product over entries of sum over answers b of kept[b] prod sent[b][output],

with `hidden` what else is drawn for good and never sent (alpha of the one-bit mean). What is public and permanent (a
seed, where buckets begin) tells nothing of values: all is said of a given one. Of the outputs nothing but their numbers
counts, so histories of a year are drawn as fast as short ones. That they have the encoders' law is tested.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE, Encoder, Payload
from hubbub.encoders.choices import stays
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.grr import Grr
from hubbub.encoders.olh_pool import OlhPool
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.encoders.rappor import Rappor
from hubbub.encoders.unary import Unary

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]

WORDS = range(7, 12)  # that histories are made of, of all there are: the first and the last share no bit here
NEVER = -1e30  # in place of the logarithm of 0, so that none of them times 0 is 0
CERTAIN = 1e29  # log ratios beyond it mean that one history could not have sent this


@dataclass(frozen=True)
class Site:
    """One field, or bit, of a device's reports.

    Attributes:
        weights: (hidden,) chance of each thing that is drawn for good and never sent.
        entries: (hidden, values) where a value leads.
        kept: (entries, answers) law of an entry's permanent answer.
        sent: (answers, outputs) law of what is sent in its place.
    """

    weights: Reals
    entries: Ints
    kept: Reals
    sent: Reals

    @property
    def fresh(self) -> bool:
        """Whether an entry's answer is the value itself."""
        return bool((self.kept == np.eye(len(self.kept), self.kept.shape[1])).all())


def values_of(encoder: Encoder) -> range:
    """Values that histories are made of."""
    return WORDS if isinstance(encoder, Rappor) else range(encoder.size)


def publics(encoder: Encoder) -> list[Payload]:
    """What a device may have drawn for good and sends in the clear, each as likely; nothing for most."""
    if not encoder.memo or not encoder.public:
        return [()]
    return [(field,) for field in range(encoder.radices[0])]


def sites(encoder: Encoder, public: Payload) -> list[Site]:
    """All sites of a device with these public fields, in the order of its fields."""
    e = encoder
    if isinstance(e, Unary):
        own, other = map(float, e.kept())
        flip = e.flip / SCALE
        return _bits(own, other, flip, bool(e.memo), (np.arange(e.size) == i for i in range(e.size)))
    if not e.memo:
        return [_afresh(e)]
    if isinstance(e, Rappor):
        lie, filters = e.low / SCALE, np.array([e.filter(public[0], value) for value in range(WORDS.stop)])
        return _bits(1 - lie, lie, e.zero / SCALE, True, iter(filters.T == 1))
    if isinstance(e, DBitFlip):
        lie = e.lie / SCALE
        asked = (np.arange(e.size) == bucket for bucket in e.asked(public))
        return _bits(1 - lie, lie, e.flip / SCALE, True, asked)
    if isinstance(e, OneBitMean):
        alphas, times = np.unique(
            (np.arange(e.size) + np.arange(e.bucket)[:, None]) // e.bucket, axis=0, return_counts=True
        )
        ones = (e.low + np.arange(e.top + 1) * e.rise) / SCALE
        return [Site(times / times.sum(), alphas, _coins(ones), _flips(e.flip / SCALE))]
    if isinstance(e, RandomizedResponse):
        lie = e.low / SCALE
        return [Site(np.ones(1), np.arange(2)[None], _coins(np.array([lie, 1 - lie])), _flips(e.flip / SCALE))]
    if isinstance(e, Grr):
        return [Site(np.ones(1), np.arange(e.size)[None], _repeated(e.keep, e.size), _repeated(e.again, e.size))]
    if isinstance(e, OlhPool):
        keep, again = e.rounds()
        hashes = np.array([[e.hash(public[0], value) for value in range(e.size)]])
        return [Site(np.ones(1), hashes, _repeated(keep, e.g), _repeated(again, e.g))]
    raise NotImplementedError(e.name)


def reader(encoder: Encoder) -> Callable[[Payload], tuple[int, ...]]:
    """What tells of a payload which output it is at each site."""
    if isinstance(encoder, Unary):
        return tuple
    if not encoder.memo:
        columns = _column(encoder)
        return lambda payload: (columns[payload],)
    return lambda payload: payload[encoder.public :]


def log_ratios(
    at: Sequence[Site], first: Sequence[int], other: Sequence[int], n: int, rng: np.random.Generator
) -> Reals:
    """(2, n) ln(P(sent | first) / P(sent | other)): of n devices that lived through `first`, and of n of `other`."""
    values, times = np.unique(np.stack([first, other]), axis=1, return_counts=True)
    found = np.zeros((2, n))
    for site in at:
        if groups := _groups(site, values, times):
            for truth in (0, 1):
                if site.fresh:
                    found[truth] += _apart(site, groups, truth, n, rng)
                else:
                    found[truth] += _ratio(site, groups, _draw(site, groups, truth, n, rng))
    return found


def ratio_of(at: Sequence[Site], first: Sequence[int], other: Sequence[int], sent: Ints) -> Reals:
    """(devices,) the same of what they sent: (devices, windows, sites) outputs."""
    values, inverse, times = np.unique(np.stack([first, other]), axis=1, return_inverse=True, return_counts=True)
    found = np.zeros(len(sent))
    for i, site in enumerate(at):
        groups = _groups(site, values, times)
        if not groups:
            continue
        keys = [_key(site, pair) for pair in values.T]
        place = np.array([[key.tobytes() for key, _ in groups].index(keys[j].tobytes()) for j in inverse.ravel()])
        counts = np.zeros((len(groups), len(sent), site.sent.shape[1]), np.int64)
        for t, group in enumerate(place):
            counts[group, np.arange(len(sent)), sent[:, t, i]] += 1
        found += _ratio(site, groups, counts)
    return found


Groups = list[tuple[Ints, int]]  # entries of both histories, (2, hidden), and in how many windows they are these


def _key(site: Site, pair: Ints) -> Ints:
    return np.ascontiguousarray(site.entries[:, pair].T)


def _groups(site: Site, values: Ints, times: Ints) -> Groups:
    """Windows in which both histories use the same entries; none where this site tells nothing."""
    found: dict[bytes, tuple[Ints, int]] = {}
    for pair, many in zip(values.T, times.tolist(), strict=True):
        key = _key(site, pair)
        found[key.tobytes()] = key, found.get(key.tobytes(), (key, 0))[1] + many
    return [] if all((key[0] == key[1]).all() for key, _ in found.values()) else list(found.values())


def _draw(site: Site, groups: Groups, truth: int, n: int, rng: np.random.Generator) -> Ints:
    """(groups, n, outputs) how often each was sent, by devices that lived through one of the two histories."""
    hidden = rng.choice(len(site.weights), n, p=site.weights) if len(site.weights) > 1 else np.zeros(n, np.int64)
    steps = site.kept.cumsum(axis=1)[:, :-1]
    answers = (rng.random((len(site.kept), n, 1)) >= steps[:, None, :]).sum(axis=2)
    counts = np.empty((len(groups), n, site.sent.shape[1]), np.int64)
    for place, (key, many) in enumerate(groups):
        chances = site.sent[answers[key[truth][hidden], np.arange(n)]]
        if chances.shape[1] == 2:
            counts[place, :, 1] = rng.binomial(many, chances[:, 1])
            counts[place, :, 0] = many - counts[place, :, 1]
        else:
            counts[place] = rng.multinomial(many, chances)
    return counts


def _apart(site: Site, groups: Groups, truth: int, n: int, rng: np.random.Generator) -> Reals:
    """(n,) log ratios where reports are independent: of each group it is enough to count those with the same odds."""
    found = np.zeros(n)
    for key, many in groups:
        laws = site.sent[key[:, 0]]
        odds = np.log(laws[0] / laws[1])
        _, place = np.unique(odds.round(9), return_inverse=True)
        chances = np.bincount(place, laws[truth])
        found += rng.multinomial(many, chances / chances.sum(), n) @ (np.bincount(place, odds) / np.bincount(place))
    return found


def _ratio(site: Site, groups: Groups, counts: Ints) -> Reals:
    first, other = (_log(site, [key[side] for key, _ in groups], counts) for side in (0, 1))
    return np.asarray(first - other)


def _log(site: Site, used: Sequence[Ints], counts: Ints) -> Reals:
    """(n,) ln of the chance of what was sent by a history that used these entries."""
    with np.errstate(divide="ignore"):
        sent = np.maximum(np.log(site.sent), NEVER)
        kept = np.maximum(np.log(site.kept), NEVER)
        hidden = np.log(site.weights)
    found = np.empty((len(hidden), counts.shape[1]))
    for h, weight in enumerate(hidden):
        found[h] = weight
        for entry in {int(key[h]) for key in used}:
            mine = counts[[key[h] == entry for key in used]].sum(axis=0)
            found[h] += np.logaddexp.reduce(kept[entry] + mine @ sent.T, axis=1)
    return np.asarray(np.logaddexp.reduce(found, axis=0))


def _bits(own: float, other: float, flip: float, memo: bool, set_by: Iterator[NDArray[np.bool_]]) -> list[Site]:
    """A site for each position; which values set it is given."""
    coins = _coins(np.array([other, own]))
    kept, sent = (coins, _flips(flip)) if memo else (np.eye(2), coins)
    return [Site(np.ones(1), values.astype(np.int64)[None], kept, sent) for values in set_by]


def _coins(ones: Reals) -> Reals:
    return np.stack([1 - ones, ones], axis=1)


def _flips(flip: float) -> Reals:
    return _coins(np.array([flip, 1 - flip]))


def _repeated(keep: int, answers: int) -> Reals:
    p, q = map(float, stays(keep, answers))
    return np.full((answers, answers), q) + (p - q) * np.eye(answers)


def _afresh(encoder: Encoder) -> Site:
    """Everything drawn for each report: one site, whose outputs are payloads."""
    columns, size = _column(encoder), values_of(encoder).stop
    sent = np.zeros((size, max(columns.values()) + 1))
    for payload, laws in _laws(encoder).items():
        sent[:, columns[payload]] += [float(chance) for chance in laws]
    return Site(np.ones(1), np.arange(size)[None], np.eye(size), sent)


def _column(encoder: Encoder) -> dict[Payload, int]:
    """The output that stands for a payload: those are one whose odds between any two values are the same."""
    places: dict[tuple[Fraction, ...], int] = {}
    return {
        payload: places.setdefault(tuple(chance / laws[0] for chance in laws), len(places))
        for payload, laws in _laws(encoder).items()
    }


def _laws(encoder: Encoder) -> dict[Payload, list[Fraction]]:
    """Chance of each payload under every value, over what is public too."""
    found: dict[Payload, list[Fraction]] = {}
    drawn = list(_drawn(encoder))
    for public in drawn:
        laws = [encoder.law(value, public) for value in range(values_of(encoder).stop)]
        for payload in laws[0]:
            found[payload] = [law[payload] / len(drawn) for law in laws]
    return found


def _drawn(encoder: Encoder) -> Iterator[Payload]:
    """Public fields that are drawn for each report, each as likely."""
    if not encoder.public:
        yield ()
    elif isinstance(encoder, DBitFlip):
        for buckets in combinations(range(encoder.size), encoder.d):
            yield tuple(bucket - i for i, bucket in enumerate(buckets))
    else:
        yield from product(*map(range, encoder.radices[: encoder.public]))


def certain(ratios: Reals) -> float:
    """The largest log ratio, either way; inf where one history could not have sent it."""
    most = float(np.abs(ratios).max())
    return math.inf if most > CERTAIN else most
