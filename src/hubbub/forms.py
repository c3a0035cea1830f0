"""What may stand in a metrics.lock, piece by piece: each check refuses what it does not know. Standard library only.

Checks take the place of a value, for the message, and the value as JSON gave it.
"""

import re
from collections.abc import Callable, Sequence, Set
from typing import Any

from hubbub.errors import LockError, ParameterError
from hubbub.windows import midnight

Check = Callable[[str, object], None]


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A table of JSON in which no key stands twice."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise LockError(key, "the key stands twice")
        found[key] = value
    return found


def constant(word: str) -> object:
    """Refuse NaN and the infinities, which JSON does not have."""
    raise LockError("metrics.lock", f"{word} is not a number of JSON")


def table(where: str, value: object, keys: Set[str], optional: Set[str] = frozenset()) -> dict[str, Any]:
    """A table with all of these keys, some of those that are optional, and no others."""
    if not isinstance(value, dict):
        raise LockError(where, "must be a table")
    for key in sorted(value.keys() - keys - optional):
        raise LockError(f"{where}.{key}", "unknown key", "use a release of hubbub that knows it")
    for key in sorted(keys - value.keys()):
        raise LockError(f"{where}.{key}", "is missing")
    return value


def matches(where: str, value: object, pattern: re.Pattern[str]) -> None:
    """Hold a text against a pattern."""
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise LockError(where, f"{value!r} does not have the form {pattern.pattern}")


def integer(low: int, high: int) -> Check:
    """An integer in [low, high]."""

    def check(where: str, value: object) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise LockError(where, f"{value!r} is not an integer in [{low}, {high}]")

    return check


def text(longest: int, least: int = 0) -> Check:
    """A text of so many characters, all of which can be printed."""

    def check(where: str, value: object) -> None:
        if not isinstance(value, str) or not least <= len(value) <= longest:
            raise LockError(where, f"must be text of {least} to {longest} characters")
        if not value.isprintable():  # it is shown to whoever reviews the lock
            raise LockError(where, "holds characters that cannot be printed, such as line ends or control codes")

    return check


def choice(options: Sequence[str]) -> Check:
    """One of these words."""

    def check(where: str, value: object) -> None:
        if value not in options or not isinstance(value, str):
            raise LockError(where, f"{value!r} is not one of " + ", ".join(map(repr, options)))

    return check


def form(pattern: re.Pattern[str]) -> Check:
    """A text of this pattern."""
    return lambda where, value: matches(where, value, pattern)


def items(check: Check, least: int = 0) -> Check:
    """A list of at least so many, each of which passes the check."""

    def checks(where: str, value: object) -> None:
        if not isinstance(value, list) or len(value) < least:
            raise LockError(where, f"must be a list of at least {least}")
        for i, item in enumerate(value):
            check(f"{where}[{i}]", item)

    return checks


def date(where: str, value: object) -> None:
    """A day as YYYY-MM-DD."""
    try:
        midnight(value)  # type: ignore[arg-type]
    except ParameterError as error:
        raise LockError(where, str(error)) from None
