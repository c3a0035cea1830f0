"""Runs one scenario against an SDK and holds it to what the scenario expects, and to what always holds."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hubbub.lock import Lock, parse
from hubbub.testing.contract.device import Device
from hubbub.testing.contract.mock import MockCollector, Request
from hubbub.testing.contract.scenarios import Scenario
from hubbub.wire import REPORTS_SCHEMA, TRAVELLING_HASH, unpack

_HEADERS = {"host", "content-type", "content-length", "content-encoding", "accept-encoding", "connection"}
_KEYS = {"id", "metric", "hash", "window", "segment", "payload"}
_ROUNDED = 2e-6  # nats: prices are rounded up to six decimals, after sums whose last digits may differ
_START = {"lock": "base", "policy": "research"}


class ContractError(AssertionError):
    """An SDK did not do what the contract says."""


def run(scenario: Scenario, command: Sequence[str], folder: Path) -> None:
    """Do what the scenario says, with a collector of its own on loopback.

    Args:
        scenario: One of `load`.
        command: The SDK's adapter.
        folder: Empty, for the device's state.

    Raises:
        ContractError: The SDK broke the contract.
    """
    with MockCollector() as collector:
        device = Device(command, folder)
        try:
            _Run(scenario, device, collector).all()
        finally:
            device.kill()


class _Run:
    def __init__(self, scenario: Scenario, device: Device, collector: MockCollector) -> None:
        self._scenario = scenario
        self._device = device
        self._collector = collector
        self._started: dict[str, Any] = dict(_START)
        self._looked_at = 0  # requests that an `expect` has seen
        self._empty: bool | None = None  # what the last flush said
        self._kept: dict[str, Any] = {}
        self._locks: dict[str, Lock] = {}

    def all(self) -> None:
        for number, step in enumerate(self._scenario.steps, 1):
            ((verb, given),) = step.items()
            try:
                getattr(self, f"_{verb}")(given)
            except ContractError as error:
                raise ContractError(f"{self._scenario.name}, step {number} ({verb}): {error}") from None
        self._always()

    # Steps

    def _clock(self, text: str) -> None:
        self._device.set_clock(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())

    def _start(self, given: Mapping[str, Any] | None) -> None:
        answer = self._begun(given or {})
        _hold(answer["ok"], f"the client did not start: {answer}")

    def _refuses(self, given: Mapping[str, Any]) -> None:
        given = dict(given)
        kind = given.pop("error")
        answer = self._begun(given)
        _hold(answer == {"ok": False, "error": kind}, f"{answer} in place of a refusal of kind {kind}")

    def _begun(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        self._started = {**self._started, **given}
        options = {key: value for key, value in self._started.items() if key != "environment"}
        path = self._scenario.locks / f"{options.pop('lock')}.lock"
        self._locks[path.name] = parse(path.read_bytes()) if not path.name.startswith("bad_") else Lock("", {})
        self._device.begin(self._started.get("environment", {}))
        return self._device.ask(
            do="start",
            lock=str(path),
            clock=str(self._device.clock),
            state=str(self._device.state),
            endpoint=self._collector.address,
            **options,
        )

    def _add(self, given: Sequence[Any]) -> None:
        self._device.ask(do="add", metric=given[0], value=given[1])

    def _set(self, given: Sequence[Any]) -> None:
        self._device.ask(do="set", metric=given[0], value=given[1])

    def _tick(self, given: object) -> None:
        self._device.ask(do="tick")

    def _flush(self, given: object) -> None:
        self._empty = self._device.ask(do="flush")["empty"]

    def _consent(self, state: str) -> None:
        self._device.ask(do="consent", state=state)

    def _close(self, given: object) -> None:
        self._device.ask(do="close")

    def _end(self, given: object) -> None:
        self._device.end()

    def _kill(self, given: object) -> None:
        self._device.kill()

    def _faults(self, given: Sequence[Mapping[str, Any]]) -> None:
        self._collector.faults.extend(given)

    def _remove(self, names: Sequence[str]) -> None:
        self._device.remove(names)

    def _damage(self, name: str) -> None:
        self._device.damage(name)

    def _save(self, name: str) -> None:
        self._device.save(name)

    def _restore(self, name: str) -> None:
        self._device.restore(name)

    def _restore_anew(self, name: str) -> None:
        self._device.restore_anew(name)

    def _clone(self, given: object) -> None:
        self._device.clone()

    def _keep(self, given: Mapping[str, Sequence[Any]]) -> None:
        for name, (metric, value) in given.items():
            self._kept[name] = self._device.ask(do="answer", metric=metric, value=value)["answer"]

    # What is expected

    def _expect(self, given: Mapping[str, Any]) -> None:
        new = self._collector.requests[self._looked_at :]
        self._looked_at += len(new)
        for key, wanted in given.items():
            getattr(self, f"_expect_{key}")(wanted, new)

    def _expect_requests(self, wanted: int, new: Sequence[Request]) -> None:
        _hold(len(new) == wanted, f"{len(new)} requests since the last look in place of {wanted}")

    def _expect_same_bytes(self, wanted: bool, new: Sequence[Request]) -> None:
        found = len({request.body for request in new}) == 1
        _hold(found == wanted, "bodies differ" if wanted else "bodies are the same")

    def _expect_empty(self, wanted: bool, new: Sequence[Request]) -> None:
        _hold(self._empty == wanted, f"the last flush said {self._empty}, not {wanted}")

    def _expect_windows(self, wanted: Mapping[str, Sequence[str]], new: Sequence[Request]) -> None:
        """Beginnings of the windows that were ever reported, by metric."""
        found: dict[str, list[str]] = {name: [] for name in wanted}
        for entry in self._entries():
            if entry["metric"] in found:
                found[entry["metric"]].append(self._begins(entry))
        for name, times in found.items():
            _hold(sorted(times) == sorted(wanted[name]), f"{name} was reported for {sorted(times)}")

    def _expect_payloads(self, wanted: Mapping[str, Mapping[str, str]], new: Sequence[Request]) -> None:
        found = {(entry["metric"], self._begins(entry)): entry["payload"] for entry in self._entries()}
        for name, payloads in wanted.items():
            for begins, payload in payloads.items():
                got = found.get((name, begins))
                _hold(got == payload, f"{name} sent {got} for {begins} in place of {payload}")

    def _expect_counters(self, wanted: Mapping[str, int], new: Sequence[Request]) -> None:
        counters = self._device.ask(do="counters")["counters"]
        for name, count in wanted.items():
            _hold(counters.get(name, 0) == count, f"counter {name} is {counters.get(name, 0)}, not {count}")

    def _expect_ledger(self, wanted: Mapping[str, Mapping[str, Any]], new: Sequence[Request]) -> None:
        """What the ledger says, by metric and key."""
        metrics = self._device.ask(do="ledger")["metrics"]
        for name, account in wanted.items():
            for key, value in account.items():
                got = metrics.get(name, {}).get(key)
                near = isinstance(value, float) and isinstance(got, float) and abs(got - value) <= _ROUNDED
                _hold(got == value or near, f"the ledger's {key} of {name} is {got}, not {value}")

    def _expect_generation(self, wanted: int, new: Sequence[Request]) -> None:
        got = self._device.ask(do="ledger")["generation"]
        _hold(got == wanted, f"secret number {got}, not {wanted}")

    def _expect_consent(self, wanted: str, new: Sequence[Request]) -> None:
        got = self._device.ask(do="consent")["consent"]
        _hold(got == wanted, f"what holds is {got}, not {wanted}")

    def _expect_answers(self, wanted: Mapping[str, Sequence[Any]], new: Sequence[Request]) -> None:
        for name, (metric, value) in wanted.items():
            got = self._device.ask(do="answer", metric=metric, value=value)["answer"]
            _hold(got == self._kept[name], f"the permanent answer {name} has changed")

    def _expect_files(self, wanted: bool, new: Sequence[Request]) -> None:
        _hold(self._device.state.exists() == wanted, "files are there" if not wanted else "no files are there")

    def _always(self) -> None:
        """What holds in every scenario, whatever happened."""
        bodies: dict[tuple[str, str], bytes] = {}
        ids: dict[tuple[str, int, str], set[str]] = {}
        for request in self._collector.requests:
            where = f"{self._scenario.name}: a request"
            _hold((request.method, request.path) == ("POST", "/v1/reports"), f"{where} to {request.path}")
            extra = {name.lower() for name in request.headers} - _HEADERS
            _hold(not extra, f"{where} carries {sorted(extra)}")
            entry = _entry(request, where)
            metric = next(
                (
                    lock.metrics[entry["metric"]]
                    for lock in self._locks.values()
                    if entry["metric"] in lock.metrics
                    and lock.metrics[entry["metric"]].hash[:TRAVELLING_HASH] == entry["hash"]
                ),
                None,
            )
            if metric is None:
                raise ContractError(f"{where} is of a definition that no lock has")
            _hold(entry["segment"] in metric.segments, f"{where} has an unknown segment")
            _hold(metric.encoder.possible(unpack(entry["payload"], metric.encoder.radices)), f"{where} is impossible")
            _hold(entry["window"] in metric.life, f"{where} is outside the metric's life")
            body = bodies.setdefault((entry["metric"], entry["id"]), request.body)
            _hold(body == request.body, f"{where} repeats an id with other bytes")
            ids.setdefault((entry["metric"], entry["window"], self._secret(entry)), set()).add(entry["id"])
        for (metric_name, window, _), found in ids.items():
            _hold(len(found) == 1, f"{self._scenario.name}: {metric_name} has two ids for window {window}")

    def _secret(self, entry: Mapping[str, Any]) -> str:
        """Copies and lost secrets make another device: then one window may have an id of each."""
        verbs = {verb for step in self._scenario.steps for verb in step}
        return entry["id"] if verbs & {"clone", "restore_anew", "remove", "damage"} else ""

    def _entries(self) -> list[Mapping[str, Any]]:
        """Each distinct report that was ever posted."""
        bodies = dict.fromkeys(request.body for request in self._collector.requests)
        return [json.loads(body)["reports"][0] for body in bodies]

    def _begins(self, entry: Mapping[str, Any]) -> str:
        metric = next(lock.metrics[entry["metric"]] for lock in self._locks.values() if entry["metric"] in lock.metrics)
        begins = datetime.fromtimestamp(metric.windows.start(entry["window"]), UTC)
        return begins.strftime("%Y-%m-%d" if metric.window != "hour" else "%Y-%m-%dT%H:%M")


def _entry(request: Request, where: str) -> Mapping[str, Any]:
    try:
        tree = json.loads(request.body)
        (entry,) = tree["reports"]
    except (ValueError, TypeError, LookupError):
        raise ContractError(f"{where} does not hold one report") from None
    _hold(tree.keys() == {"schema", "reports"} and tree["schema"] == REPORTS_SCHEMA, f"{where} has another form")
    _hold(entry.keys() == _KEYS, f"{where} has the keys {sorted(entry)}")
    found: Mapping[str, Any] = entry
    return found


def _hold(condition: bool, message: str) -> None:
    if not condition:
        raise ContractError(message)
