"""Reading what people write (metrics.toml) and what was built from it (metrics.lock), with every problem at once."""

import datetime
import difflib
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import msgspec

from hubbub.definitions.activity import problems as active
from hubbub.definitions.checks import check, dimensions_in_detail
from hubbub.definitions.document import Registry
from hubbub.definitions.forms import FIRST_YEAR, LAST_YEAR, MAX_NAME, RESERVED
from hubbub.definitions.keys import KEYS, TOP, Key
from hubbub.definitions.models import Definition
from hubbub.definitions.problems import (
    DefinitionErrors,
    Problem,
    blank,
    control,
    foreign,
    no_collection,
    toml,
    toml_key,
    toml_line,
)
from hubbub.definitions.rotating import problems as rotating
from hubbub.errors import LockError
from hubbub.lock import NAME, Lock, parse

MAX_BYTES = 4 << 20  # of a metrics.toml or a metrics.lock
BUILD_IT = "build it: hubbub registry build"
PLACES = 6  # of a decimal
_FORM = "a-z, then a-z, 0-9 and _, parts joined by dots"


def load(path: str | Path) -> Registry:
    """Read and check a metrics.toml.

    Raises:
        DefinitionErrors: It cannot be read, or something in it is wrong; holds all problems.
    """
    return loads(_bytes(path, "`hubbub init` writes a first metrics.toml"), str(path))


def read_lock(path: str | Path) -> Lock:
    """Read a metrics.lock.

    Raises:
        LockError: It cannot be read, is of another schema, or does not fit its own hashes; names the file.
    """
    raw = _bytes(path, "`hubbub registry build` writes it")
    try:
        return parse(raw.decode())
    except UnicodeDecodeError:
        raise LockError(f"{path}", "is not UTF-8") from None
    except LockError as error:
        if _is_registry(raw):
            raise LockError(f"{path}", "is a metrics.toml, not a metrics.lock", BUILD_IT) from None
        raise LockError(f"{path}: {error.where}", error.problem, error.remedy) from None


def _is_registry(raw: bytes) -> bool:
    """Whether something that is no lock is meant as a metrics.toml."""
    try:
        return not {"schema", "collection", "metrics"}.isdisjoint(tomllib.loads(raw.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        return False


def _bytes(path: str | Path, remedy: str) -> bytes:
    other = "name a file that can be read"
    try:
        regular = stat.S_ISREG(Path(path).stat().st_mode)  # opening a pipe or a device may wait for ever
        if regular:
            with Path(path).open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _unread(path, "does not exist", remedy) from None
    except OSError as error:
        raise _unread(path, f"cannot be read ({error.strerror})", other) from None
    if not regular:
        raise _unread(path, f"is not a file but {_kind_of(path)}", other)
    if len(raw) > MAX_BYTES:
        raise _unread(path, f"is larger than {MAX_BYTES >> 20} MiB", "name the right file; no registry is that large")
    return raw


def _kind_of(path: str | Path) -> str:
    return "a folder" if Path(path).is_dir() else "a pipe" if Path(path).is_fifo() else "a device or a socket"


def _unread(path: str | Path, problem: str, remedy: str) -> DefinitionErrors:
    return DefinitionErrors(str(path), [Problem("file", toml(str(path)), problem, remedy)])


def loads(raw: bytes, file: str) -> Registry:
    """Check the bytes of a metrics.toml; `file` is what messages call it.

    Raises:
        DefinitionErrors: Something in it is wrong; holds all problems.
    """
    try:
        text = raw.decode("utf-8-sig") + "\n"  # so that the last line has a number too
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        problem = Problem(f"line {line}", f"byte 0x{raw[error.start]:02X}", "is not UTF-8", "save the file as UTF-8")
        raise DefinitionErrors(file, [problem]) from None
    if text.lstrip().startswith("{"):  # no TOML begins so
        remedy = "name the metrics.toml that it was built from"
        raise DefinitionErrors(file, [Problem("file", toml(file), "is a metrics.lock, not a metrics.toml", remedy)])
    try:
        tree = tomllib.loads(text, parse_float=_decimal)
    except (ValueError, RecursionError) as error:  # ValueError: also a whole number of thousands of digits
        raise DefinitionErrors(file, [_syntax(text, str(error))]) from None
    problems: list[Problem] = []
    top = {key: value for key, value in tree.items() if key != "metrics"}
    values, _ = _values(top, {key: TOP[key] for key in TOP if key != "metrics"}, "", problems, others=("metrics",))
    metrics = _metrics(tree.get("metrics"), problems)
    problems = problems or [*active(metrics), *rotating(metrics)]
    if problems:
        raise DefinitionErrors(file, problems)
    return Registry(file, values["collection"], metrics)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond all bounds
        return Decimal("inf")


def _syntax(text: str, error: str) -> Problem:
    """A file that is no TOML: the line that stopped the reader, and what usually causes it."""
    if "set_int_max_str_digits" in error:
        number = next(n for n, line in enumerate(text.split("\n"), start=1) if re.search(r"\d[\d_]{4000}", line))
        line = toml_line(text.split("\n")[number - 1])
        return Problem(f"line {number}", line, "holds a number of thousands of digits", "write a smaller number")
    what, _, place = error.removesuffix(")").rpartition(" (at ")
    remedy = "texts go in quotes, numbers and dates do not"
    found = re.fullmatch(r"line (\d+), column \d+", place)
    if not found:
        return Problem("file", "", f"is not TOML: {what or error}", remedy)
    line = toml_line(text.split("\n")[int(found[1]) - 1])
    if re.search("overwrite|twice|Duplicate|mutate|redefine", what):
        return Problem(f"line {found[1]}", line, f"the key or table stands twice ({what})", "remove one of the two")
    return Problem(place, line, f"is not TOML: {what}", remedy)


def _metrics(tree: object, problems: list[Problem]) -> dict[str, Definition]:
    key = TOP["metrics"]
    if tree is None or tree == {}:
        problems.append(Problem("metrics", "", "the registry is empty: it has no metric", key.remedy))
        return {}
    if not isinstance(tree, Mapping):
        problems.append(Problem("metrics", toml(tree), f"is not {key.expected}", key.remedy))
        return {}
    metrics = {}
    for name, table in tree.items():
        before = len(problems)
        where = f"metrics.{toml(name)}"
        problems += _name(name, where)
        if not isinstance(table, Mapping):
            remedy = f"write [{where}] on a line of its own, its keys below"
            problems.append(Problem(where, toml(table), "is not a table", remedy))
        elif inner := _unquoted(table):
            remedy = f'put the name in quotes: [metrics."{name}.{inner}"]'
            problem = "is a table of tables: a dot outside quotes makes a table of its own"
            problems.append(Problem(where, "", problem, remedy))
        else:
            values, meant = _values(table, KEYS, f"{where}.", problems)
            given = {**dict.fromkeys(meant), **table}
            problems += [problem._replace(key=f"{where}.{problem.key}") for problem in check(values, given)]
            if len(problems) == before:
                metrics[name] = Definition(**values)
    return metrics


def _unquoted(table: Mapping[str, object]) -> str:
    """The name of a first table inside a table that holds no key of a metric; empty if it is a metric's."""
    inner = [key for key, value in table.items() if isinstance(value, Mapping)]
    return inner[0] if inner and not table.keys() & KEYS.keys() else ""


def _name(name: str, where: str) -> Iterator[Problem]:
    if twin := foreign(name):
        yield Problem(where, "", f"is no name: {twin}", f"write the name in {_FORM}")
    elif len(name) > MAX_NAME:
        yield Problem(where, "", f"is no name: {len(name)} characters, more than {MAX_NAME}", "write a shorter name")
    elif not NAME.fullmatch(name):
        better = f"; {name.lower()} would do" if NAME.fullmatch(name.lower()) else ""
        yield Problem(where, "", "is not the form of a name", f"write the name in {_FORM}{better}")


def _values(
    table: Mapping[str, Any],
    keys: Mapping[str, Key],
    where: str,
    problems: list[Problem],
    others: tuple[str, ...] = (),
) -> tuple[dict[str, Any], set[str]]:
    """The values that are right by themselves, with defaults, and the keys that misspelt ones seem to mean.

    What is wrong with the others goes to `problems`.
    """
    values: dict[str, Any] = {}
    meant: set[str] = set()
    for name, value in table.items():
        if name not in keys:
            near = difflib.get_close_matches(name.lower(), (*keys, *others), 1)
            problems.append(_unknown(name, value, where, near, (*keys, *others)))
            meant.update(near)
            continue
        found = list(_wrong(name, value, keys[name]))
        problems += [problem._replace(key=where + problem.key) for problem in found]
        if not found:
            values[name] = msgspec.convert(value, keys[name].type)
    for name, key in keys.items():
        if name in table or name in meant:
            continue
        if key.required:
            problems.append(Problem(where + name, "", "is missing", key.remedy))
        elif key.default is not None:
            values[name] = key.default
    return values, meant


def _unknown(name: str, value: object, where: str, near: list[str], known: tuple[str, ...]) -> Problem:
    remedy = f"did you mean {near[0]}?" if near else "remove it; known are " + ", ".join(known)
    if near and near[0] == name.lower():
        remedy = f"keys are in small letters: {near[0]}"
    problem = "unknown key" + (f": {twin}" if (twin := foreign(name)) else "")
    return Problem(where + toml_key(name), toml(value), problem, remedy)


def _wrong(name: str, value: object, key: Key) -> Iterator[Problem]:
    """At most a few problems of one value; none if it is right by itself."""
    try:
        msgspec.convert(value, key.type)
        fits = not isinstance(value, str) or key.type.__origin__ is not _DATE
    except (msgspec.ValidationError, OverflowError):
        fits = False
    if not fits and isinstance(value, str) and RESERVED.get(name) == value:
        yield Problem(name, toml(value), "is reserved for a later release and refused for now", key.remedy)
    elif not fits and name == "collection" and isinstance(value, str):
        yield Problem(name, toml(value), no_collection(value), key.remedy)
    elif not fits and name == "dimensions":
        generic = Problem(name, toml(value), f"is not {key.expected}", key.remedy)
        yield from list(dimensions_in_detail(value)) or [generic]
    elif not fits and key.ascii and (twin := foreign(value)):
        yield Problem(name, toml(value), f"is not {key.expected}: {twin}", key.remedy)
    elif not fits:
        near = difflib.get_close_matches(value.lower(), key.words, 1) if isinstance(value, str) else []
        remedy = f"did you mean {toml(near[0])}?" if near and len(key.words) > 1 else key.remedy
        yield Problem(name, toml(value), f"is not {key.expected}", remedy)
    elif isinstance(value, datetime.date) and not FIRST_YEAR <= value.year <= LAST_YEAR:
        problem = f"is not in the years {FIRST_YEAR} to {LAST_YEAR}"
        yield Problem(name, toml(value), problem, key.remedy)
    elif isinstance(value, Decimal) and _places(value) > PLACES:
        problem = f"has {_places(value)} decimals, more than {PLACES}"
        yield Problem(
            name, toml(value), problem, f"round it to {PLACES} decimals: {round(value, PLACES).normalize():f}"
        )
    elif problem := control(value):
        yield Problem(name, toml(value), problem, "write it on one line, in characters that can be printed")
    elif name in ("description", "purpose", "owners", "unit", "shuffler") and blank(value):
        yield Problem(name, toml(value), "is blank", key.remedy)


_DATE = KEYS["starts"].type.__origin__


def _places(value: Decimal) -> int:
    """Decimals that count: 1.50 has one."""
    _, digits, exponent = value.as_tuple()
    used = len(digits)
    while used > 1 and not digits[used - 1]:
        used -= 1
    return max(0, -int(exponent) - (len(digits) - used)) if any(digits) else 0
