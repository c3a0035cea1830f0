"""What a collector's answer to a posted report means for the device: stop asking, or ask again with the same bytes.

Specification: spec/wire.md.
"""

import json
from functools import lru_cache
from typing import NamedTuple

from hubbub.client.transport import Response

RETRIED = frozenset({408, 429})  # and every status from 500 on
CODES = frozenset(
    {
        "unknown_metric",
        "metric_ended",
        "hash_mismatch",
        "invalid_id",
        "invalid_payload",
        "unknown_segment",
        "too_early",
        "too_late",
        "conflict",
        "rate_limited",
    }
)


class Verdict(NamedTuple):
    """What became of a report."""

    terminal: bool
    held_up: bool  # the collector as a whole did not take it, so that others would fare no better now
    word: str  # the local counter to raise


@lru_cache(maxsize=4)  # a collector has few answers to one report, and a process may hold many clients
def judge(response: Response) -> Verdict:
    """Read the answer to a body that held one report.

    A success whose body is not a collector's acknowledges nothing: such an exchange counts as broken, as a lost
    connection does. The collector is not trusted to choose the names of counters.
    """
    if response.status in RETRIED or response.status >= 500:
        return Verdict(terminal=False, held_up=True, word="unavailable")
    if not 200 <= response.status < 300:
        return Verdict(terminal=True, held_up=False, word="refused")
    try:
        answer = json.loads(response.body)
        if (answer["accepted"], answer["results"]) == (1, []):
            return Verdict(terminal=True, held_up=False, word="accepted")
        result = answer["results"][0]
        status, code = result["status"], result.get("code")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return Verdict(terminal=False, held_up=True, word="unreadable")
    if status == "duplicate":
        return Verdict(terminal=True, held_up=False, word="duplicate")
    word = code if isinstance(code, str) and code in CODES else "rejected"
    return Verdict(terminal=status != "retry", held_up=False, word=word)
