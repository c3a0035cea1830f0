"""Whether anything may leave the device: what the person chose, what the environment asks, and what holds until then.

Specification: spec/consent.md.
"""

import os
from collections.abc import Mapping
from typing import Literal

from hubbub.errors import ParameterError

Choice = Literal["unknown", "granted", "denied"]
CHOICES: tuple[Choice, ...] = ("granted", "denied")  # what a person can choose
DEFAULTS: tuple[Choice, ...] = ("unknown", "granted")  # what an app may assume until then
_OFF = ("", "0", "false")


def do_not_track(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether `DO_NOT_TRACK` is set to anything but nothing, 0 or false."""
    return environment.get("DO_NOT_TRACK", "") not in _OFF


def effective(stored: str, default: Choice, forbidden: bool) -> Choice:
    """What holds now.

    Args:
        stored: The person's choice as the state keeps it, empty where there is none. Anything else than a choice is no
            choice either, and then nothing is sent.
        default: What the app assumes until then.
        forbidden: The environment asks not to be tracked, which no choice overrides.
    """
    if forbidden:
        return "denied"
    if not stored:
        return default
    return stored if stored in CHOICES else "unknown"


def check(name: str, value: object, allowed: tuple[Choice, ...]) -> Choice:
    """Refuse what is none of the words allowed.

    Raises:
        ParameterError: Another word.
    """
    for choice in allowed:
        if value == choice:
            return choice
    raise ParameterError(name, value, "one of " + ", ".join(map(repr, allowed)))
