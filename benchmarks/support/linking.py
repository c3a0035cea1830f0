"""The attacker who has two windows of steady devices, not linked, and looks for the likeliest partner of each report.

All that it has is what the store holds, the rows of the two windows, and what anybody may know: the encoder and the
shares of the crowd's values. It takes of all N reports of the first window the one under which that of the second is
likeliest. Let J be the device that sent the report Y, and W the first window. What they tell about J is
I(J; Y | W) = H(Y | W) - H(Y | first report of J) <= H(Y) - H(Y | first report of J), the mutual information I of two
reports of one device. The guess is made of W and Y, so its share of hits s has, by data processing,

    s log2(s N) + (1 - s) log2((1 - s) N / (N - 1)) <= I <= public_bits + linkage_bits        (Fano's inequality).

Of ids much is tested, not all. Of two windows none may be equal, and few places in their order, which is all that the
order of the rows tells. No bit of an id may go with a bit of the partner's, with a bit of the payload of either, or
with the parity of one of these payloads. Nor may it go with a bit of the id that the device has in another metric and
the same window; and no two metrics may have equal ids, or ids that differ by one constant.

What no such test sees: ids that are hashes of ids; noise that is drawn from the id; a bit of an id that is the parity
of several bits of ids and payloads, or goes with one weakly, by less than 8 / √N. That ids tell nothing follows from
how they are made (spec/README.md, "Permanent words: the PRF"), and from no test.

Source: Cover, Thomas, Elements of Information Theory, sections 2.8 and 2.10.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.support.histories import Reals, Site, reader, sites
from benchmarks.support.steady import Seen
from hubbub.encoders.base import SCALE, Encoder, Payload
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.rappor import Rappor
from hubbub.encoders.unary import Unary
from hubbub.encoders.words import places
from hubbub.store import Report
from hubbub.wire import unpack

BLOCK = 500  # reports whose partners are looked for at once
IN_ORDER = 12  # places that two orders of ids may share by chance: more once in 13! = 6e9
TOGETHER = 8.0  # standard errors by which two given bits may go together: more once in 4e13
PROBES = 20  # ids of one metric that are held against all of another
IN_COMMON = 2  # pairs of ids of two metrics that may have one XOR by chance: more once in 1e24, of 5000 devices


@dataclass(frozen=True)
class Crowd:
    """Values of an encoder that devices hold, what an app gives for each of them, and their shares."""

    values: Sequence[int]
    given: Sequence[object]
    shares: Reals


@dataclass(frozen=True)
class Linked:
    """What the attacker got, beside what the declared bits allow.

    Attributes:
        bits: Mutual information of two reports, measured, with its standard error in `noise`.
        matched: Share of reports whose partner is found; of ties as many as chance finds.
        most: The most that the declared bits allow.
        equal: Ids of the second window that are ids of the first.
        in_order: Devices whose id has the same place in the order of both windows.
        together: Standard errors by which that bit of an id and that bit of its partner's go together which do so most.
        with_payload: The same of a bit of an id and a bit of the payload of its report or its partner's, or its parity.
        in_common: Pairs of ids with one XOR, or equal, of this metric and another, in one window.
        across: Like `together`, of a bit of an id and one of the same device's in another metric and the same window.
    """

    name: str
    devices: int
    public_bits: float
    linkage_bits: float
    bits: float
    noise: float
    matched: float
    most: float
    equal: int
    in_order: int
    together: float
    with_payload: float
    in_common: int = 0
    across: float = 0.0

    @property
    def beyond(self) -> bool:
        """Whether the attacker got more than was declared, by more than chance explains (once in 30 000)."""
        chance = 4 * math.sqrt(self.most * (1 - self.most) / self.devices)
        return self.bits > self.public_bits + self.linkage_bits + 4 * self.noise or self.matched > self.most + chance

    @property
    def told_by_ids(self) -> bool:
        """Whether ids have to do with one another or with payloads by more than chance explains.

        It does once in 9e7, for payloads of up to 1024 bits and up to 17 other metrics.
        """
        return (
            self.equal > 0
            or self.in_order > IN_ORDER
            or max(self.together, self.with_payload, self.across) > TOGETHER
            or self.in_common > IN_COMMON
        )


def allowed(bits: float, devices: int) -> float:
    """The largest share of hits that so many bits allow."""
    low, high = 1 / devices, 1.0
    if bits >= math.log2(devices):
        return high
    for _ in range(100):
        s = (low + high) / 2
        needed = s * math.log2(s * devices) + (1 - s) * math.log2((1 - s) * devices / (devices - 1))
        low, high = (s, high) if needed < bits else (low, s)
    return high


def link(name: str, encoder: Encoder, crowd: Crowd, seen: Seen) -> Linked:
    """Let the attacker look, and tell it what is true.

    Raises:
        ValueError: Public fields of a device that should be permanent differ.
    """
    devices = len(seen.first)
    bits, hits = np.empty(devices), np.empty(devices)
    for start, odds in _odds(encoder, crowd, seen.first, seen.second):
        columns = np.arange(odds.shape[1])
        own = odds[seen.partner[start : start + len(columns)], columns]
        if not np.isfinite(own).all():
            raise ValueError(f"{name}: public fields of a device are not the same in both windows")
        likeliest = odds >= odds.max(axis=0) - 1e-9
        bits[start + columns] = own / math.log(2)
        hits[start + columns] = (own >= odds.max(axis=0) - 1e-9) / likeliest.sum(axis=0)
    return Linked(
        name,
        devices,
        encoder.public_bits,
        encoder.linkage_bits,
        float(bits.mean()),
        float(bits.std(ddof=1) / math.sqrt(devices)),
        float(hits.mean()),
        allowed(encoder.public_bits + encoder.linkage_bits, devices),
        *_ids(seen),
    )


def in_common(ids: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """What the ids of each metric have in common with those of any other, at most, whosever they may be.

    It is the number of equal ids, or of pairs that have one XOR, with `PROBES` ids of the one and all of the other.

    Args:
        ids: Of one window, by metric.
    """
    arrays = {name: np.array(of, np.int64) for name, of in ids.items()}
    most = dict.fromkeys(arrays, 0)
    for one, other in combinations(arrays, 2):
        _, times = np.unique(arrays[one][:PROBES, None] ^ arrays[other], return_counts=True)
        shared = max(int(times.max()), len(np.intersect1d(arrays[one], arrays[other])))
        most[one], most[other] = max(most[one], shared), max(most[other], shared)
    return most


def across(seen: Mapping[str, Seen]) -> dict[str, float]:
    """How far bits of ids go together with those of the same devices in any other metric, at most, by metric."""
    most = dict.fromkeys(seen, 0.0)
    for window in (0, 1):
        coins = {}
        for name, one in seen.items():
            rows = (one.first, one.second)[window]
            owners = [one.devices[place] for place in one.partner] if window else one.devices
            coins[name] = _coins([rows[row].id for row in np.argsort(owners)])
        for left, right in combinations(coins, 2):
            both = float(np.abs(coins[left].T @ coins[right]).max() / math.sqrt(len(coins[left])))
            most[left], most[right] = max(most[left], both), max(most[right], both)
    return most


def _coins(ids: Sequence[int]) -> Reals:
    """(n, 64) bits, as 1 and -1."""
    return np.asarray(1.0 - 2.0 * np.unpackbits(np.array(ids, ">i8").view(np.uint8).reshape(-1, 8), axis=1))


def _ids(seen: Seen) -> tuple[int, int, float, float]:
    """Ids that are equal, ids that keep their place in the order, and how far bits go together at most.

    By chance two given bits go beyond t standard errors in at most 2 exp(-t² / 2) of all cases (Hoeffding): bits of ids
    are coins, whatever the other bits are.
    """
    windows = [seen.first[place] for place in seen.partner], seen.second
    first, second = ([row.id for row in rows] for rows in windows)
    coins = [_coins(ids) for ids in (first, second)]
    both = np.abs(coins[0].T @ coins[1]) / math.sqrt(len(first))
    sent = np.hstack([_centred(rows) for rows in windows])
    kept = sum(place == row for row, place in enumerate(seen.partner))
    equal = len(set(first) & set(second))
    return equal, kept, float(both.max()), float(np.abs(np.hstack(coins).T @ sent).max(initial=0.0))


def _centred(rows: Sequence[Report]) -> Reals:
    """(n, b) bits of the payloads, and their parity, those that vary: each column of mean 0 and length 1."""
    bits = np.unpackbits(np.array([list(bytes.fromhex(row.payload)) for row in rows], np.uint8), axis=1)
    every = np.column_stack([bits, bits.sum(axis=1) % 2]).astype(float)
    varied = every[:, np.ptp(every, axis=0) > 0]
    around = varied - varied.mean(axis=0)
    return np.asarray(around / np.linalg.norm(around, axis=0))


def _odds(
    encoder: Encoder, crowd: Crowd, first: Sequence[Report], second: Sequence[Report]
) -> Iterator[tuple[int, Reals]]:
    """(N, n) ln(P(both) / (P(first) P(second))) of all N rows of the first window and n of the second, from a place on.

    Public fields that are permanent are the same in both, and count by how many devices are seen to have them.
    """
    public = encoder.public if encoder.memo else 0
    sent = [[unpack(row.payload, encoder.radices) for row in rows] for rows in (first, second)]
    alike = _alike(sent[0], public)
    laws = {shown: _joint(encoder, shown, crowd) for shown in alike}
    for start in range(0, len(second), BLOCK):
        block = sent[1][start : start + BLOCK]
        odds = np.full((len(first), len(block)), -math.inf)
        for shown, columns in _alike(block, public).items():
            if rows := alike.get(shown):
                law = laws[shown]([sent[0][row] for row in rows], [block[column] for column in columns])
                odds[np.ix_(rows, columns)] = law + math.log(len(first) / len(rows))
        yield start, odds


def _alike(payloads: Sequence[Payload], public: int) -> dict[Payload, list[int]]:
    """Places of payloads by so many leading fields."""
    found: dict[Payload, list[int]] = {}
    for place, payload in enumerate(payloads):
        found.setdefault(payload[:public], []).append(place)
    return found


Law = Callable[[Sequence[Payload], Sequence[Payload]], Reals]


def _joint(encoder: Encoder, public: Payload, crowd: Crowd) -> Law:
    """Tells of m reports and n later ones, all with these public fields, how likely they are of one device.

    (m, n) ln(P(first, second) / (P(first) P(second))).
    """
    e, shares = encoder, crowd.shares
    if isinstance(e, Unary):
        own, other = map(float, e.kept())
        flip = e.flip / SCALE
        noise = (own, other, flip, 1 - flip) if e.memo else (1.0, 0.0, other, own)
        return _of_bits(0, shares, *noise)
    if isinstance(e, DBitFlip) and e.memo:
        lie, flip = e.lie / SCALE, e.flip / SCALE
        return _of_bits(1, shares[list(e.asked(public))], 1 - lie, lie, flip, 1 - flip)
    if isinstance(e, Rappor) and e.memo and e.hashes == 1:
        masses = np.zeros(e.bits)
        for value, share in zip(crowd.values, shares, strict=True):
            masses[places(e.shape, public[0], value)[0]] += share
        return _of_bits(1, masses, 1 - e.low / SCALE, e.low / SCALE, e.zero / SCALE, e.one / SCALE)
    return _of_choice(e, sites(e, public)[0], shares)


def _of_choice(encoder: Encoder, site: Site, shares: Reals) -> Law:
    """Reports of one field."""
    entries = np.zeros(len(site.kept))
    for weight, led in zip(site.weights, site.entries, strict=True):
        np.add.at(entries, led, weight * shares)
    answers = entries @ site.kept
    both = (site.sent * answers[:, None]).T @ site.sent
    alone = both.sum(axis=1)
    odds, said = np.log(both / np.outer(alone, alone)), reader(encoder)

    def law(first: Sequence[Payload], second: Sequence[Payload]) -> Reals:
        a, b = (np.array([said(payload)[0] for payload in sent]) for sent in (first, second))
        return np.asarray(odds[np.ix_(a, b)])

    return law


def _of_bits(public: int, masses: Reals, own: float, other: float, zero: float, one: float) -> Law:
    """Reports of a bit for each position, of which a value sets one, with these shares of the crowd, or none."""
    unset, is_set = (_pair(kept, zero, one) for kept in (other, own))
    base, odds = np.log(unset), is_set / unset
    single, single_odds = unset.sum(axis=1), is_set.sum(axis=1) / unset.sum(axis=1)
    none = 1 - masses.sum()

    def alone(bits: Reals) -> Reals:
        fixed = np.log(single[0]) * bits.shape[1] + (np.log(single[1]) - np.log(single[0])) * bits.sum(axis=1)
        mixed = none + single_odds[0] * masses.sum() + (single_odds[1] - single_odds[0]) * (bits @ masses)
        return np.asarray(fixed + np.log(mixed))

    def law(first: Sequence[Payload], second: Sequence[Payload]) -> Reals:
        a, b = (np.array([payload[public:] for payload in sent], float) for sent in (first, second))
        together, left, right = a @ b.T, a.sum(axis=1)[:, None], b.sum(axis=1)[None, :]
        neither = a.shape[1] - left - right + together
        fixed = (
            base[1, 1] * together
            + base[1, 0] * (left - together)
            + base[0, 1] * (right - together)
            + base[0, 0] * neither
        )
        cross = odds[1, 1] - odds[1, 0] - odds[0, 1] + odds[0, 0]
        mixed = (
            none
            + odds[0, 0] * masses.sum()
            + (odds[1, 0] - odds[0, 0]) * (a @ masses)[:, None]
            + (odds[0, 1] - odds[0, 0]) * (b @ masses)[None, :]
            + cross * ((a * masses) @ b.T)
        )
        return np.asarray(fixed + np.log(mixed) - alone(a)[:, None] - alone(b)[None, :])

    return law


def _pair(kept: float, zero: float, one: float) -> Reals:
    """(2, 2) chances of two reports of one permanent bit that is 1 with chance `kept`."""
    of = np.array([[1 - zero, zero], [1 - one, one]])
    return np.asarray((1 - kept) * np.outer(of[0], of[0]) + kept * np.outer(of[1], of[1]))
