"""What a metric gives away: its four prices, in words and as data, and the exact whole-life price. Needs numpy.

Beside what is named here: `composition` (several losses with a small delta), `pattern` and `confined` (histories
that are alike), `shuffling` (where somebody else mixes reports). These need scipy, and the first dp-accounting for
unequal losses.
"""

from hubbub.privacy.accounts import Account, account, together
from hubbub.privacy.changes import visible
from hubbub.privacy.life import Life, closest_life, exact_life
from hubbub.privacy.pairs import partner
from hubbub.privacy.precision import Strategy, strategies
from hubbub.privacy.prices import PriceLine, describe
from hubbub.privacy.sentences import explain, null, sections
from hubbub.privacy.shuffling import Amplified, amplified
from hubbub.privacy.words import in_words, nats, percent, plural, posterior

__all__ = [
    "Account",
    "Amplified",
    "Life",
    "PriceLine",
    "Strategy",
    "account",
    "amplified",
    "closest_life",
    "describe",
    "exact_life",
    "explain",
    "in_words",
    "nats",
    "null",
    "partner",
    "percent",
    "plural",
    "posterior",
    "sections",
    "strategies",
    "together",
    "visible",
]
