"""From definitions to metrics.lock: integers, hashes and prices are fixed here once, and reviewed with the app."""

import contextlib
import dataclasses
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from hubbub.definitions.activity import source
from hubbub.definitions.document import Registry
from hubbub.definitions.forms import duration
from hubbub.definitions.models import Definition
from hubbub.definitions.problems import DefinitionErrors, Problem, toml
from hubbub.definitions.reading import load, read_lock
from hubbub.definitions.rotating import placed
from hubbub.definitions.selecting import grid, select
from hubbub.errors import ParameterError
from hubbub.lock import AGGREGATES, Lock, Metric, dump, overfull


def build(registry: Registry, previous: Lock | None = None) -> Lock:
    """The lock of a registry.

    Args:
        registry: As read by `load`.
        previous: The lock that it replaces, if there is one.

    Raises:
        DefinitionErrors: A mechanism refuses a definition, or the lock cannot follow the previous one.
    """
    metrics: dict[str, Metric] = {}
    problems: list[Problem] = []
    for name, definition in placed(registry.metrics).items():
        try:
            metric = locked(name, definition)
            of = source(name, registry.metrics)
            metrics[name] = dataclasses.replace(metric, source=metrics[of].hash) if of else metric
        except ParameterError as error:
            key = f"metrics.{toml(name)}.{error.name}"
            problems.append(Problem(key, toml(error.value), f"is not {error.expected}", "write another value"))
    lock = Lock(registry.collection, metrics)
    problems += [
        Problem(f"metrics.{toml(name)}.presence", '"hidden"', problem, remedy)
        for name, problem, remedy in overfull(metrics)
    ]
    if previous and not problems:
        problems += refusals(previous, lock)
    if problems:
        raise DefinitionErrors(registry.file, problems)
    return lock


def read(path: str | Path) -> Lock:
    """The lock in a metrics.lock, or the one that a metrics.toml would give; told apart by what stands in the file.

    Raises:
        HubbubError: It is neither, or something in it is wrong.
    """
    file = Path(path)
    return read_lock(path) if file.suffix == ".lock" or _begins_as_lock(file) else build(load(path))


def _begins_as_lock(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(4096).lstrip().startswith(b"{")


def locked(name: str, definition: Definition) -> Metric:
    """One metric as devices will encode it, from its definition as `placed` leaves it.

    Raises:
        ParameterError: The mechanism refuses a parameter.
    """
    lower, step = grid(definition)
    return Metric(
        name=name,
        version=definition.version,
        kind=definition.kind,
        encoder=select(definition).mechanism.encoder,
        lower=lower,
        step=step,
        unit=definition.unit,
        labels=tuple(definition.categories or definition.coordinates or ()),
        window=definition.window,
        starts=definition.starts.isoformat(),
        expires=definition.expires.isoformat(),
        grace=duration(definition.grace),
        report_every=definition.report_every,
        rotation=definition.rotation,
        presence=definition.presence,
        seal=definition.seal,
        dimensions=tuple((key, tuple(values)) for key, values in definition.dimensions.items()),
        min_reports=definition.min_reports,
        description=definition.description,
        purpose=definition.purpose,
        owners=tuple(definition.owners),
        aggregate=_stated(definition),
        shuffler=definition.shuffler or "",
    )


def _stated(definition: Definition) -> str:
    """What several values come to, where it is not what the kind does anyway."""
    word = definition.aggregate or ""
    return "" if word == AGGREGATES[definition.kind][0] else word


def refusals(old: Lock, new: Lock) -> Iterator[Problem]:
    """Why a lock may not replace an older one; devices in the field would refuse it or lose what they were promised."""
    if new.collection != old.collection:
        problem = f"was {toml(old.collection)}: every permanent answer would be drawn again"
        yield Problem("collection", toml(new.collection), problem, "keep it, or write another lock with --lock")
        return
    for name, metric in new.metrics.items():
        if name in old.metrics:
            yield from _follows(f"metrics.{toml(name)}", old.metrics[name], metric)


def _follows(where: str, old: Metric, new: Metric) -> Iterator[Problem]:
    version = f"{where}.version", toml(new.version)
    higher = f"write version = {old.version + 1}"
    if new.version < old.version:
        yield Problem(*version, f"is lower than the {old.version} of the lock", f"{higher}; versions only ever rise")
    elif new.version == old.version and new.hash != old.hash:
        problem = "is that of the lock, but devices would encode something else under it"
        yield Problem(*version, problem, f"{higher}: a new series begins, and permanent answers are drawn again")
    elif new.version == old.version:
        renew = f"run `hubbub registry renew`, or {higher}"
        if new.expires > old.expires:
            problem = f"is later than the {old.expires} of the lock, under the same version"
            yield Problem(f"{where}.expires", new.expires, problem, renew)
        if new.starts < old.starts:
            problem = f"is earlier than the {old.starts} of the lock, under the same version"
            yield Problem(f"{where}.starts", new.starts, problem, renew)


def save(lock: Lock, path: str | Path) -> bool:
    """Write a lock whole or not at all; False if the file holds it already and is left alone."""
    return replace(path, dump(lock).encode())


def replace(path: str | Path, content: bytes) -> bool:
    """Give a file new content whole or not at all; False if it holds it already and is left alone.

    Raises:
        OSError: It cannot be written; names the path as it was given.
    """
    target = Path(path).resolve()
    if target.is_file() and target.read_bytes() == content:
        return False
    folder = Path(path).parent
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise FileNotFoundError(errno.ENOENT, f"the folder {folder} {what}", str(path))
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            draft.chmod(target.stat().st_mode & 0o777)
        draft.replace(target)
    except OSError as error:  # which names the draft, unknown to whoever reads it
        problem = f"cannot be written into the folder {folder} ({error.strerror or error})"
        raise OSError(error.errno, problem, str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    return True
