"""`python -m hubbub.testing.contract.adapter`: the Python SDK as the contract talks to it, over stdin and stdout."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from hubbub.client import Client, StateError
from hubbub.client.policy import PolicyError
from hubbub.clock import FileClock
from hubbub.errors import LockError, ParameterError
from hubbub.lock import shown

_SPECIAL = {"nan": float("nan"), "inf": float("inf"), "none": None, "object": object()}
_ERRORS = ((PolicyError, "policy"), (LockError, "lock"), (StateError, "state"), (ParameterError, "parameter"))


class Adapter:
    """One client at a time."""

    def __init__(self) -> None:
        self._client: Client | None = None

    def __call__(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """Do what is asked; `error` names the kind of what an SDK raises before anything is sent."""
        does: Callable[..., dict[str, Any] | None] = getattr(self, f"do_{command['do']}")
        try:
            return {"ok": True} | (does(**{key: value for key, value in command.items() if key != "do"}) or {})
        except Exception as error:
            for kind, word in _ERRORS:
                if isinstance(error, kind):
                    return {"ok": False, "error": word}
            raise

    def do_start(self, *, clock: str, state: str, lock: str, endpoint: str, **more: Any) -> None:
        """Begin on a folder, without a thread of its own."""
        self._client = Client(lock, endpoint, clock=FileClock(clock), state_dir=state, background=False, **more)

    def do_add(self, metric: str, value: Any) -> None:
        """Add a value."""
        self.client.add(metric, _value(value))

    def do_set(self, metric: str, value: Any) -> None:
        """Set a value."""
        self.client.set(metric, _value(value))

    def do_tick(self) -> None:
        """Seal what has ended."""
        self.client.tick()

    def do_flush(self) -> dict[str, Any]:
        """Send what waits, each report once."""
        return {"empty": self.client.flush(timeout=10.0)}

    def do_consent(self, state: str | None = None) -> dict[str, Any]:
        """Take down a choice, and say what holds."""
        return {"consent": self.client.consent(state)}  # type: ignore[arg-type]

    def do_counters(self) -> dict[str, Any]:
        """What was counted since the start."""
        return {"counters": dict(self.client.counters)}

    def do_ledger(self) -> dict[str, Any]:
        """What was charged and sent."""
        ledger = self.client.ledger()
        metrics = {
            name: {
                "sent": account.sent,
                "in_force": account.current is not None,
                "refused": bool(account.refused),
                "windows": sum(len(one.windows) for one in account.charges),
                **{key: shown(price) for key, price in account.charged._asdict().items()},
            }
            for name, account in ledger.accounts.items()
        }
        return {"metrics": metrics, "generation": ledger.generation}

    def do_answer(self, metric: str, value: Any) -> dict[str, Any]:
        """The permanent answer that stands for a value."""
        return {"answer": list(self.client.preview(metric, _value(value)).answer)}

    def do_close(self) -> None:
        """End the client."""
        self.client.close()

    @property
    def client(self) -> Client:
        """The client that was started."""
        assert self._client is not None, "no client was started"
        return self._client


def _value(given: Any) -> Any:
    return _SPECIAL[given["special"]] if isinstance(given, dict) else given


def main() -> None:
    """Answer commands until there are no more."""
    adapter = Adapter()
    for line in sys.stdin:
        print(json.dumps(adapter(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
