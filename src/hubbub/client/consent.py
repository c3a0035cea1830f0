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
FORBIDDING = ("DO_NOT_TRACK", "CI")  # variables of the environment
_OFF = ("", "0", "false")


def forbidding(environment: Mapping[str, str] = os.environ, *, in_ci: bool = False) -> str:
    """The variable of the environment that forbids anything to be sent; empty where none does.

    `DO_NOT_TRACK` does, as the wish of a person; `CI` does, since a machine that is made for one job is a new device
    each time, and nobody's. Each counts if it is set to anything but nothing, 0 or false.

    Args:
        in_ci: Whether the app wants continuous integration to take part: then `CI` forbids nothing.
    """
    set_to = {name: environment.get(name, "") for name in FORBIDDING if not (in_ci and name == "CI")}
    return next((name for name, value in set_to.items() if value not in _OFF), "")


def effective(stored: str, default: Choice, forbidden: bool) -> Choice:
    """What holds now.

    Args:
        stored: The person's choice as the state keeps it, empty where there is none. Anything else than a choice is no
            choice either, and then nothing is sent.
        default: What the app assumes until then.
        forbidden: The environment forbids it (`forbidding`), which no choice overrides.
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
