"""The attacker who has two windows of steady devices, not linked, and looks for the likeliest partner of each report.

Devices hold values by Zipf's law and report twice, as their encoder does with a secret of their own. The attacker knows
the laws, the crowd and everything else but values and secrets, and takes of all N reports of the first window the one
under which that of the second is likeliest. Let J be the device that sent the report Y, and W the first window. What
they tell about J is I(J; Y | W) = H(Y | W) - H(Y | first report of J) <= H(Y) - H(Y | first report of J), the mutual
information I of two reports of one device. The guess is made of W and Y, so its share of hits s has, by data
processing,

    s log2(s N) + (1 - s) log2((1 - s) N / (N - 1)) <= I <= public_bits + linkage_bits        (Fano's inequality).

Source: Cover, Thomas, Elements of Information Theory, sections 2.8 and 2.10.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.support.histories import Reals, Site, reader, sites
from hubbub.encoders.base import SCALE, Encoder, Payload, Words
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.rappor import Rappor
from hubbub.encoders.unary import Unary
from hubbub.encoders.words import places, value_of
from hubbub.prf import device_prf, encoding_hash

WORDS = 100  # that devices hold where values are words


@dataclass(frozen=True)
class Linked:
    """What the attacker got, beside what the declared bits allow.

    Attributes:
        bits: Mutual information of two reports, measured, with its standard error in `noise`.
        matched: Share of reports whose partner is found; of ties as many as chance finds.
        most: The most that the declared bits allow.
    """

    name: str
    devices: int
    public_bits: float
    linkage_bits: float
    bits: float
    noise: float
    matched: float
    most: float

    @property
    def beyond(self) -> bool:
        """Whether the attacker got more than was declared, by more than chance explains (once in 30 000)."""
        chance = 4 * math.sqrt(self.most * (1 - self.most) / self.devices)
        return self.bits > self.public_bits + self.linkage_bits + 4 * self.noise or self.matched > self.most + chance


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


def link(name: str, encoder: Encoder, devices: int, seed: int) -> Linked:
    """Draw the devices and let the attacker look."""
    values, shares = _crowd(encoder)
    rng = np.random.default_rng([seed, *name.encode()])
    held = [values[i] for i in rng.choice(len(values), devices, p=shares)]
    first, second = reports(encoder, held, 2, int(rng.integers(2**62)))
    public = encoder.public if encoder.memo else 0
    classes: dict[Payload, list[int]] = {}
    for device, payload in enumerate(first):
        classes.setdefault(payload[:public], []).append(device)
    information, hits = np.empty(devices), np.empty(devices)
    for shown, members in classes.items():
        law = _joint(encoder, shown, values, shares)
        likelier, own = law([first[i] for i in members], [second[i] for i in members])
        information[members] = (own + encoder.public_bits * math.log(2)) / math.log(2)
        best = likelier.max(axis=0)
        ties = (likelier > best - 1e-9).sum(axis=0)
        hits[members] = (likelier.diagonal() > best - 1e-9) / ties
    declared = encoder.public_bits + encoder.linkage_bits
    return Linked(
        name,
        devices,
        encoder.public_bits,
        encoder.linkage_bits,
        float(information.mean()),
        float(information.std(ddof=1) / math.sqrt(devices)),
        float(hits.mean()),
        allowed(declared, devices),
    )


def reports(encoder: Encoder, held: Sequence[int], windows: int, seed: int) -> list[list[Payload]]:
    """What devices send that hold these values for ever, window by window: each encoder with a secret of its own."""
    source = random.Random(seed)
    name = encoding_hash(encoder.name, *encoder.canonical())
    sent: list[list[Payload]] = [[] for _ in range(windows)]
    for value in held:
        answer = encoder.permanent(value, device_prf(source.randbytes(32), "benchmark", "linked", name))
        for window in sent:
            window.append(encoder.report(answer, words_of(source)))
    return sent


def words_of(source: random.Random) -> Words:
    """Words of a seeded generator in place of the system's."""
    return lambda count: [source.getrandbits(32) for _ in range(count)]


def _crowd(encoder: Encoder) -> tuple[list[int], Reals]:
    """Values and their shares."""
    values = [value_of(f"word {i}") for i in range(WORDS)] if isinstance(encoder, Rappor) else list(range(encoder.size))
    shares = 1 / np.arange(1, len(values) + 1)
    return values, shares / shares.sum()


Law = Callable[[Sequence[Payload], Sequence[Payload]], tuple[Reals, Reals]]


def _joint(encoder: Encoder, public: Payload, values: Sequence[int], shares: Reals) -> Law:
    """Tells of m reports and their m partners how likely they are together.

    (m, m) ln P(second | first) up to what hangs on the second alone, and of the true pairs (m,) ln P(first, second) /
    (P(first) P(second)).
    """
    e = encoder
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
        for value, share in zip(values, shares, strict=True):
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

    said = reader(encoder)

    def law(first: Sequence[Payload], second: Sequence[Payload]) -> tuple[Reals, Reals]:
        a, b = (np.array([said(payload)[0] for payload in sent]) for sent in (first, second))
        odds = np.log(both / np.outer(alone, alone))
        return odds[np.ix_(a, b)], odds[a, b]

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

    def law(first: Sequence[Payload], second: Sequence[Payload]) -> tuple[Reals, Reals]:
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
        joint = fixed + np.log(mixed) - alone(a)[:, None]
        return joint, joint.diagonal() - alone(b)

    return law


def _pair(kept: float, zero: float, one: float) -> Reals:
    """(2, 2) chances of two reports of one permanent bit that is 1 with chance `kept`."""
    of = np.array([[1 - zero, zero], [1 - one, one]])
    return np.asarray((1 - kept) * np.outer(of[0], of[0]) + kept * np.outer(of[1], of[1]))
