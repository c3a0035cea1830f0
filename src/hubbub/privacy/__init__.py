"""What a metric gives away: its four prices, in words and as data, and the exact whole-life price. Needs numpy."""

from hubbub.privacy.life import exact_life
from hubbub.privacy.prices import PriceLine, describe
from hubbub.privacy.sentences import explain, sections
from hubbub.privacy.words import in_words, nats, percent, posterior

__all__ = ["PriceLine", "describe", "exact_life", "explain", "in_words", "nats", "percent", "posterior", "sections"]
