"""The Python SDK with one fault, named by the first argument: what the contract has to notice."""

import http.client
import sys
from collections.abc import Callable
from typing import Any

from hubbub.client import answers, consent, reporter, secret, sender
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
        return secret.Recovered(drawn(collection, now, identity), False, "")

    setattr(secret, "recovered", anew)  # noqa: B010


def names_itself() -> None:
    """A further key in the report."""
    travelling = reporter.travelling

    def more(*arguments: Any) -> bytes:
        return travelling(*arguments).replace(b'"segment"', b'"device": 7, "segment"')

    setattr(reporter, "travelling", more)  # noqa: B010


FAULTS = {fault.__name__: fault for fault in (silent, cookie, gives_up, insists, deaf, forgetful, names_itself)}

if __name__ == "__main__":
    FAULTS[sys.argv[1]]()
    adapter.main()
