"""A collector of `hubbub serve --dev`, asked before pretend devices turn to it.

They never enter a real store, which could not be told apart from real ones later; and what the collector would refuse
is said before anybody waits for it.
"""

import json
from collections.abc import Iterable

from hubbub.client import HttpTransport
from hubbub.clock import ScaledClock
from hubbub.errors import HubbubError
from hubbub.lock import Metric
from hubbub.replay.health import ask, reason
from hubbub.windows import iso
from hubbub.wire import REPORTS_SCHEMA, TRAVELLING_HASH

_SECONDS = 10.0  # that the collector may be silent
_FITS = "invalid_payload"  # what a report is told of which everything else is known
_WHY = {
    "unknown_metric": "its lock has no such metric",
    "hash_mismatch": "its lock has another encoding of it",
    "metric_ended": "it was stopped, or the lock there has other dates",
}


def clock_of(endpoint: str, remedy: str) -> ScaledClock:
    """The simulated clock of the collector at an address.

    Args:
        endpoint: Where devices post.
        remedy: What to say where no such collector answers.

    Raises:
        HubbubError: Nothing answers there, or something else, or a collector of real reports.
        ParameterError: Not an address.
    """
    health = ask(endpoint, remedy)
    if health.mode != "dev":
        problem = "keeps real reports, among which pretend devices would never be found again"
        raise HubbubError(f"the collector at {endpoint} {problem}; {remedy}")
    if health.clock is None:
        raise HubbubError(
            f"{endpoint} tells no time, so devices do not post there: give the address that `hubbub serve --dev` prints"
            ' after "listening on"'
        )
    return health.clock


def admit(endpoint: str, wanted: Iterable[tuple[Metric, int]], remedy: str) -> None:
    """Ask the collector whether it takes reports of these metrics and windows, by ones that it cannot keep.

    Raises:
        HubbubError: It does not; names each metric and the collector's code.
    """
    wanted = list(wanted)
    reports = [
        {
            "id": f"{number:016x}",
            "metric": metric.name,
            "hash": metric.hash[:TRAVELLING_HASH],
            "window": window,
            "segment": metric.segments[0],
            "payload": "",
        }
        for number, (metric, window) in enumerate(wanted)
    ]
    transport = HttpTransport(endpoint)
    try:
        response = transport.post(json.dumps({"schema": REPORTS_SCHEMA, "reports": reports}).encode(), _SECONDS)
        codes: dict[int, str] = {result["index"]: result["code"] for result in json.loads(response.body)["results"]}
    except OSError as error:
        raise HubbubError(f"the collector at {endpoint} takes no reports ({reason(error)})") from None
    except (ValueError, TypeError, LookupError, RecursionError):
        problem = f"the collector at {endpoint} does not answer as one (status {response.status})"
        raise HubbubError(problem) from None
    finally:
        transport.close()
    problems = [
        f"  {metric.name}: {_WHY.get(code, 'it is refused')} ({code}; window from {iso(metric.windows.start(window))})"
        for number, (metric, window) in enumerate(wanted)
        if (code := codes.get(number, "unknown")) != _FITS
    ]
    if problems:
        raise HubbubError("\n".join([f"the collector at {endpoint} does not take this registry:", *problems, remedy]))
