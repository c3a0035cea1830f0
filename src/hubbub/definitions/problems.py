"""What is wrong with a metrics.toml: every problem names key, value and remedy, and all are shown together."""

import datetime
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from hubbub.errors import HubbubError
from hubbub.lock import COLLECTION

MAX_COLLECTION = 64  # characters of a collection's id
_WIDEST = 72  # characters of a value that a message repeats


class Problem(NamedTuple):
    """One thing that is wrong.

    Attributes:
        key: Where it stands, such as `metrics."editor.minutes".epsilon`.
        value: What stands there, as TOML; empty where nothing does.
        problem: What is wrong with it.
        remedy: What to do about it.
    """

    key: str
    value: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        """Three lines: key and value, problem, remedy."""
        joint = ": " if self.key.startswith(("line ", "file")) else " = "
        head = f"{self.key}{joint}{self.value}" if self.value else self.key
        return f"  {head}\n    {self.problem}\n    -> {self.remedy}"


class DefinitionErrors(HubbubError, ValueError):  # noqa: N818 (it holds several)
    """A metrics.toml cannot be accepted.

    Args:
        file: Its path, as it was given.
        problems: All that is wrong with it, in the order of the file; at least one.
    """

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__("\n\n".join((f"{count} in {file}", *map(str, problems))))
        self.file = file
        self.problems = tuple(problems)


def toml(value: object) -> str:
    """A value as it would stand in a TOML file, on one line, cut where it is long; nothing in it can move a cursor."""
    return toml_line(_toml(value))


def toml_line(line: str) -> str:
    """A line of a TOML file, cut where it is long; nothing in it can move a cursor."""
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04X}" for c in line.strip())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def toml_key(key: str) -> str:
    """A key as it would stand in a TOML file, in quotes only where it must."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else toml(key)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{toml_key(key)} = {_toml(item)}" for key, item in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, Decimal) and not value.is_finite():
        return str(value).lower().removesuffix("inity")
    if isinstance(value, int) and value.bit_length() > _WIDEST * 4:
        return hex(value)  # Python refuses to write thousands of decimal digits
    return str(value)


def foreign(value: object) -> str:
    """Names the first character that is not ASCII in any text of a value; empty if there is none."""
    for text in _texts(value):
        for at, character in enumerate(text, start=1):
            if not character.isascii():
                name = unicodedata.name(character, "unnamed")
                shown = f" {character}" if character.isprintable() else ""
                return f"character {at}{shown} is U+{ord(character):04X} {name}, which is not ASCII"
    return ""


def control(value: object) -> str:
    """What a text of a value holds that does not fit on one printed line; empty if all of it does."""
    if all(text.isprintable() for text in _texts(value)):
        return ""
    ends = any("\n" in text or "\r" in text for text in _texts(value))
    return "holds more than one line" if ends else "holds a character that cannot be printed"


def blank(value: object) -> bool:
    """Whether a text of a value is made of spaces alone."""
    return any(text != "" and not text.strip() for text in _texts(value))


def no_collection(text: str) -> str:
    """Why a text is no id of a collection; empty if it is one."""
    if COLLECTION.fullmatch(text):
        return ""
    if not text:
        return "is empty"
    if twin := foreign(text):
        return f"is no id: {twin}"
    if len(text) > MAX_COLLECTION:
        return f"has {len(text)} characters, more than {MAX_COLLECTION}"
    if not "a" <= text[0] <= "z":
        return f"begins with {toml(text[0])}, not with a letter of a-z"
    at, odd = next((at, c) for at, c in enumerate(text, start=1) if not re.fullmatch("[a-z0-9_-]", c))
    return f"holds {toml(odd)} as character {at}, which is none of a-z, 0-9, _ and -"


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
