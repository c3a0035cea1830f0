"""`python -m hubbub.client`: what this installation has given away, and what would become of a value.

Needs the standard library alone, so it works wherever the app does; it reads the state and writes nothing.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hubbub.client.reporter import Reporter
from hubbub.client.showing import ledger_plain, ledger_text, preview_plain, preview_text
from hubbub.client.sqlite import look
from hubbub.client.state import same_collection
from hubbub.errors import HubbubError, LockError, ParameterError
from hubbub.lock import Lock, parse

_WORDS: dict[str, object] = {"yes": True, "true": True, "no": False, "false": False}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        The exit code: 0, or 2 for bad input.
    """
    given = _parser().parse_args(arguments)
    try:
        print(given.run(given))
    except HubbubError as error:
        print(f"hubbub: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hubbub.client", description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    ledger = commands.add_parser("ledger", help="what was charged, sent and refused, metric by metric")
    preview = commands.add_parser("preview", help="value, permanent answer and bytes; nothing is recorded or sent")
    ledger.set_defaults(run=_ledger)
    preview.set_defaults(run=_preview)
    for command, needed in ((ledger, False), (preview, True)):
        command.add_argument("--state", required=True, metavar="DIR", type=Path, help="state_dir of the app")
        command.add_argument("--lock", required=needed, metavar="FILE", type=Path, help="metrics.lock of the app")
        command.add_argument("--json", action="store_true", help="print one JSON object")
    preview.add_argument("name", metavar="NAME", help="a metric of the lock")
    preview.add_argument("value", metavar="VALUE", help="a number, a label, or yes or no")
    return parser


def _ledger(given: argparse.Namespace) -> str:
    memory = look(given.state)
    lock = None if given.lock is None else _read(given.lock)
    if lock is not None:
        same_collection(str(given.state), memory.ledger.collection, lock.collection)
    if given.json:
        return json.dumps(ledger_plain(memory.ledger, lock), indent=2, ensure_ascii=False)
    return ledger_text(memory.ledger, lock)


def _preview(given: argparse.Namespace) -> str:
    memory, lock = look(given.state), _read(given.lock)
    same_collection(str(given.state), memory.ledger.collection, lock.collection)
    if given.name not in lock.metrics:
        raise ParameterError("NAME", given.name, "a metric of the lock: " + ", ".join(sorted(lock.metrics)))
    metric = lock.metrics[given.name]
    seen = Reporter(metric, lock.collection, memory.secret, "").preview(
        given.value if metric.kind in ("choice", "words") else _value(given.value)
    )
    if given.json:
        return json.dumps(preview_plain(metric, seen), indent=2, ensure_ascii=False)
    return preview_text(metric, given.value, seen)


def _value(text: str) -> object:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text


def _read(path: Path) -> Lock:
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise LockError(str(path), f"cannot be read ({error.strerror})", "give the path of a metrics.lock") from None


if __name__ == "__main__":
    sys.exit(main())
