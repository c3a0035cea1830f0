"""What a single report must be: every check but that of its id against the stored ones."""

import re
from collections.abc import Mapping
from typing import Any

from hubbub.errors import PayloadError
from hubbub.serving.contract import Code
from hubbub.store import Report, WindowKey
from hubbub.store.catalogue import Catalogue
from hubbub.windows import MAX_SKEW

_ID = re.compile(r"[0-9a-f]{16}")


_NEVER: Mapping[str, int] = {}


def check(item: Any, catalogue: Catalogue, now: float, ends: Mapping[str, int] = _NEVER) -> Report | Code:
    """The report that `item`, as parsed from JSON, stands for; or why it is none. The first fault counts.

    Anything that is not a report at all has an unknown metric. A window that is no whole number, or outside
    [starts, expires), is none that the metric has: it has ended, or not begun.

    Args:
        item: Anything.
        catalogue: Metrics that are taken.
        now: Unix seconds.
        ends: When metrics that were stopped end, unix seconds; the others end when they expire.
    """
    if not isinstance(item, dict):
        return "unknown_metric"
    metric, hash_, id_ = item.get("metric"), item.get("hash"), item.get("id")
    if not isinstance(metric, str) or metric not in catalogue:
        return "unknown_metric"
    if not isinstance(hash_, str) or not catalogue.known(metric, hash_):
        return "hash_mismatch"
    if not isinstance(id_, str) or not _ID.fullmatch(id_):
        return "invalid_id"
    window, payload, segment = item.get("window"), item.get("payload"), item.get("segment", "")
    if not isinstance(window, int) or isinstance(window, bool):
        return "metric_ended"
    key = WindowKey(metric, hash_, window)
    definition = catalogue.find(key)
    if definition is None:
        return "metric_ended"
    end = definition.windows.end(window)
    if end > ends.get(metric, end):
        return "metric_ended"
    if not isinstance(payload, str):
        return "invalid_payload"
    try:
        definition.decode(payload)
    except PayloadError:
        return "invalid_payload"
    if not isinstance(segment, str):
        return "unknown_segment"
    if segment not in definition.segments and not any(segment in other.segments for other in catalogue.holding(key)):
        return "unknown_segment"
    if end > now + MAX_SKEW:
        return "too_early"
    if end + definition.metric.grace <= now:
        return "too_late"
    return Report(WindowKey(definition.metric.name, definition.hash, window), signed(id_), segment, payload)


def signed(id_: str) -> int:
    """Sixteen hex digits as a signed 64-bit integer."""
    return int.from_bytes(bytes.fromhex(id_), "big", signed=True)
