"""What a device keeps to itself stands in no repr: reprs end in logs and in reports of errors."""

import dataclasses
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import hubbub.client
from hubbub.client import Running, SqliteState, secret
from hubbub.client.looking import look
from hubbub.clock import ManualClock
from tests.unit.client_support import DAY, FRESH_MEAN, STARTS, Plain, client, lock, metric, secret_of

VALUE = 731_977_317  # is found wherever it is shown; `Plain` makes it the permanent answer too
LOCK = lock(metric(encoder=Plain(2**40)), metric("other", encoder=FRESH_MEAN))
OURS = tuple(import_module(f"hubbub.client.{one.name}") for one in pkgutil.iter_modules(hubbub.client.__path__))
# Records that hold nothing of a person's, or nothing but what is sent; none of them is met below.
SENT = {"Response", "Verdict", "Stored", "_Asked", "_Left"}


def objects(thing: Any, seen: dict[int, Any]) -> None:
    """All that hangs together with it and is hubbub's own."""
    if id(thing) in seen:
        return
    kind = type(thing)
    inside: list[Any] = []
    if isinstance(thing, dict):
        inside = [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        inside = list(thing)
    if kind.__module__.startswith(("hubbub.", "tests.")):
        inside += vars(thing).values() if hasattr(thing, "__dict__") else ()
        inside += [getattr(thing, name) for name in getattr(kind, "__slots__", ())]
    if inside:
        seen[id(thing)] = thing
        for one in inside:
            objects(one, seen)


def records() -> Iterator[str]:
    """Classes of the client whose repr is made from what they hold."""
    for module in OURS:
        for name, one in vars(module).items():
            made = isinstance(one, type) and one.__module__ == module.__name__
            if made and (dataclasses.is_dataclass(one) or hasattr(one, "_fields")):
                yield name


def test_no_repr_shows_secret_value_or_answer(tmp_path: Path) -> None:
    clock = ManualClock(STARTS)
    folder = SqliteState(tmp_path / "state")
    device = client(LOCK, clock, state=folder)
    clock.set(STARTS + DAY)
    device.add("editor.minutes", VALUE)  # the first day waits to be sent, the second one holds the value
    device.tick()
    kept = client(LOCK, clock)
    clock.set(STARTS + 2 * DAY)
    kept.add("editor.minutes", VALUE)
    inside = kept._recorder.state
    copy = secret.read((tmp_path / "state" / "secret.json").read_bytes())
    assert copy.memory is not None
    roots = [
        *(device, device.preview("editor.minutes", VALUE), look(tmp_path / "state")),
        *(kept, inside.begin(LOCK, kept._setup.policy, int(clock.now()))),
        *(copy, secret.Recovered(copy.memory, "", "")),
        Running("editor.minutes", "", STARTS, STARTS + DAY, "", (1.0, float(VALUE))),
    ]
    found: dict[int, Any] = {}
    objects(roots, found)
    device.close()
    folder.close()
    own = [one for one in found.values() if type(one).__module__.startswith("hubbub.")]
    assert set(records()) - {type(one).__name__ for one in own} == SENT
    secrets = [copy.bare.secret, secret_of(inside, LOCK)]
    assert any(isinstance(getattr(one, "value", None), float) and one.value == VALUE for one in own)
    for one in own:
        shown = repr(one) + str(one)
        for hidden in (str(VALUE), f"{float(VALUE):g}", *(part for key in secrets for part in (key.hex(), repr(key)))):
            assert hidden not in shown, type(one).__name__
