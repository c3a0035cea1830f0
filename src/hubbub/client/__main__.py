"""`python -m hubbub.client`: what this installation has given away, and what would become of a value.

Needs the standard library alone, so it works wherever the app does; it reads the state and writes nothing.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hubbub.client.looking import look
from hubbub.client.reporter import Reporter
from hubbub.client.showing import preview_plain, preview_text
from hubbub.client.state import same_collection
from hubbub.client.statement import ledger_plain, ledger_text
from hubbub.clock import SystemClock
from hubbub.errors import HubbubError, LockError, ParameterError
from hubbub.lock import Lock, parse

_WORDS: dict[str, object] = {"yes": True, "true": True, "no": False, "false": False}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        The exit code: 0, 1 where nobody reads the output, or 2 for bad input and for output that cannot be written.
    """
    given = _parser().parse_args(arguments)
    try:
        print(given.run(given), flush=True)
    except HubbubError as error:
        print(f"hubbub: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain once more at its end
        if isinstance(error, BrokenPipeError):
            return 1
        print(f"hubbub: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hubbub.client", description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    shows = commands.add_parser("ledger", help="what was sent, what it gives away, what may follow, and what waits")
    previews = commands.add_parser("preview", help="value, permanent answer and bytes; nothing is recorded or sent")
    shows.set_defaults(run=_ledger)
    previews.set_defaults(run=_preview)
    for command, needed in ((shows, False), (previews, True)):
        command.add_argument("--state", required=True, metavar="DIR", type=Path, help="state_dir of the app")
        command.add_argument("--lock", required=needed, metavar="FILE", type=Path, help="metrics.lock of the app")
        command.add_argument("--json", action="store_true", help="print one JSON object")
    shows.add_argument("--waiting", action="store_true", help="print the bytes of each report that waits to be sent")
    previews.add_argument("name", metavar="NAME", help="a metric of the lock")
    previews.add_argument("value", metavar="VALUE", help="a number, numbers such as 0.5,-1, a label, or yes or no")
    return parser


def ledger(state: Path, lock: Path | Lock | None, *, bodies: bool = False, as_json: bool = False) -> str:
    """What an installation accepted, sent and gave away, and what waits, as printed.

    Args:
        state: Its folder.
        lock: The metrics.lock of the app, or what stands in it, where there is one.
        bodies: Whether to print the bytes of each report that waits.
        as_json: Whether to print one JSON object, which always holds them.

    Raises:
        StateError: There is no such installation, or it belongs to another collection than the lock.
        LockError: The lock cannot be used.
    """
    seen = look(state)
    memory = seen.memory
    definitions = None if lock is None else _read(lock)
    if definitions is not None:
        same_collection(str(state), memory.ledger.collection, definitions.collection)
    if as_json:
        return json.dumps(ledger_plain(memory.ledger, definitions, seen), indent=2, ensure_ascii=False)
    return ledger_text(memory.ledger, definitions, seen, bodies=bodies)


def preview(state: Path, lock: Path | Lock, name: str, value: str, *, as_json: bool = False) -> str:
    """What would become of a value on an installation, as printed.

    Raises:
        StateError, LockError: As above.
        ParameterError: No such metric.
        PrivateValueError: Not a value of its kind.
    """
    memory, definitions = look(state).memory, _read(lock)
    same_collection(str(state), memory.ledger.collection, definitions.collection)
    if name not in definitions.metrics:
        raise ParameterError("NAME", name, "a metric of the lock: " + ", ".join(sorted(definitions.metrics)))
    metric = definitions.metrics[name]
    now = SystemClock().now()
    seen = Reporter(metric, definitions.collection, memory.secret, "").preview(
        value if metric.kind in ("choice", "words") else _value(value, metric.kind)
    )
    if as_json:
        return json.dumps(preview_plain(metric, seen, now), indent=2, ensure_ascii=False)
    return preview_text(metric, value, seen, now)


def _ledger(given: argparse.Namespace) -> str:
    return ledger(given.state, given.lock, bodies=given.waiting, as_json=given.json)


def _preview(given: argparse.Namespace) -> str:
    return preview(given.state, given.lock, given.name, given.value, as_json=given.json)


def _value(text: str, kind: str) -> object:
    if kind == "vector":
        return [_value(part, "mean") for part in text.split(",")]
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text


def _read(lock: Path | Lock) -> Lock:
    if isinstance(lock, Lock):
        return lock
    try:
        return parse(lock.read_bytes())
    except OSError as error:
        raise LockError(str(lock), f"cannot be read ({error.strerror})", "give the path of a metrics.lock") from None
    except LockError as error:
        if lock.suffix == ".toml":
            remedy = "give the one that `hubbub registry build` wrote"
            raise LockError(str(lock), "is no metrics.lock", remedy) from None
        raise LockError(f"{lock}: {error.where}", error.problem, error.remedy) from None


if __name__ == "__main__":
    sys.exit(main())
