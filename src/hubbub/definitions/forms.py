"""What the keys of metrics.toml have in common: limits, forms, and how a key is described."""

from typing import Annotated, Any

from msgspec import Meta

from hubbub.lock import DIMENSION, LABEL, MAX_INTEGER
from hubbub.mechanisms.base import MAX_EPSILON, MIN_EPSILON

LARGEST = 1_000_000_000  # of a number in a metric's unit: its millionths are exact in a double
MAX_NAME = 64
HOURS = {"h": 1, "d": 24, "w": 168}  # units of a duration
RESERVED = {"seal": "exit"}  # words of a later release
FIRST_YEAR, LAST_YEAR = 1970, 9000  # far enough from the ends of the calendar to reckon with
NAME = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"

Label = Annotated[str, Meta(pattern=f"^{LABEL.pattern}$")]
Dimension = Annotated[str, Meta(pattern=f"^{DIMENSION.pattern}$")]
Name = Annotated[str, Meta(pattern=NAME, max_length=MAX_NAME)]
Line = Annotated[str, Meta(min_length=1, max_length=254)]
Text = Annotated[str, Meta(min_length=1, max_length=64)]
NUMBER = {"ge": -LARGEST, "le": LARGEST}
COUNT = {"ge": 1, "le": MAX_INTEGER}
LOSS = {"ge": MIN_EPSILON, "le": MAX_EPSILON}


def duration(text: str) -> int:
    """Seconds of a duration such as "36h", "14d" or "2w"."""
    return int(text[:-1]) * HOURS[text[-1]] * 3600


def key(description: str, remedy: str, form: str = "", **limits: Any) -> Meta:
    """What a key means, what to do where it is wrong, and in words what stands there (numbers: from their limits)."""
    return Meta(description=description, extra={"remedy": remedy, "form": form}, **limits)
