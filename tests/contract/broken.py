"""The Python SDK with one fault, named by the first argument: what the contract has to notice."""

import http.client
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hubbub.client import answers, consent, ledger, reporter, secret, sender
from hubbub.testing.contract import adapter


def silent() -> None:
    """No report for a window in which nothing was recorded."""
    encode = reporter.Reporter.encode

    def only_values(self: Any, running: Any, now: float) -> Any:
        return None if running.value is None else encode(self, running, now)

    reporter.Reporter.encode = only_values  # type: ignore[method-assign]


def cookie() -> None:
    """A header that no report needs."""
    send = http.client.HTTPConnection.endheaders

    def marked(self: Any, *arguments: Any, **more: Any) -> None:
        self.putheader("Cookie", "device=1")
        send(self, *arguments, **more)

    http.client.HTTPConnection.endheaders = marked  # type: ignore[method-assign]


def _judging(changed: Callable[[Any, Any], Any]) -> None:
    judge = answers.judge
    setattr(sender, "judge", lambda response: changed(judge(response), response))  # noqa: B010


def gives_up() -> None:
    """A collector that is busy counts as one that refuses."""
    _judging(lambda verdict, response: verdict._replace(terminal=True) if response.status == 503 else verdict)


def insists() -> None:
    """What was refused for good is tried again."""
    _judging(lambda verdict, response: verdict._replace(terminal=False) if response.status == 400 else verdict)


def deaf() -> None:
    """A denial is taken down and not kept to."""
    consent.effective = lambda stored, default, forbidden: "granted"


def forgetful() -> None:
    """Each start is a new installation."""
    drawn = secret.drawn

    def anew(database: Any, copy: Any, *, collection: str, now: int, identity: str, **more: Any) -> Any:
        return secret.Recovered(drawn(collection, now, identity), (), "")

    setattr(secret, "recovered", anew)  # noqa: B010


def forgives() -> None:
    """After a recovery only what may follow is charged, not what may have been sent."""
    ledger._doubted = lambda account, *rest: account


def starts_afresh() -> None:
    """With another secret everything charged before is forgotten."""
    with_secret = ledger.with_secret

    def without(old: Any, *rest: Any) -> Any:
        return replace(with_secret(old, *rest), accounts={})

    setattr(secret, "with_secret", without)  # noqa: B010


def impatient() -> None:
    """A secret waits from its birth, whatever the clock said then."""
    ledger.OLDEST = -(2**62)


def names_itself() -> None:
    """A further key in the report."""
    travelling = reporter.travelling

    def more(*arguments: Any) -> bytes:
        return travelling(*arguments).replace(b'"segment"', b'"device": 7, "segment"')

    setattr(reporter, "travelling", more)  # noqa: B010


_ALL = (silent, cookie, gives_up, insists, deaf, forgetful, forgives, starts_afresh, impatient, names_itself)
FAULTS = {fault.__name__: fault for fault in _ALL}

if __name__ == "__main__":
    FAULTS[sys.argv[1]]()
    adapter.main()
