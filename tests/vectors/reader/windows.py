"""spec/windows.md: windows, dates, life, turns, and what arrives early or late."""

import datetime
import math
import re
from fractions import Fraction
from typing import Any

from tests.vectors.reader.words import RefusedError, choose, need, stream

LENGTH = {"hour": 3600, "day": 86_400, "week": 604_800}
MONDAY = 345_600


def origin(window: str) -> int:
    return MONDAY if window == "week" else 0


def window(window: str, now: float) -> int:
    return math.floor(Fraction(now) / LENGTH[window] - Fraction(origin(window), LENGTH[window]))


def span(window: str, index: int) -> list[int]:
    start = origin(window) + index * LENGTH[window]
    return [start, start + LENGTH[window]]


def date(date: str) -> int:
    need(re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", date))
    try:
        day = datetime.datetime(*map(int, date.split("-")), tzinfo=datetime.UTC)  # type: ignore[arg-type, misc]
    except ValueError:
        raise RefusedError from None
    return int(day.timestamp())


def life(window: str, starts: str, expires: str, report_every: int) -> Any:
    around = range(*(date_index(window, day) for day in (starts, expires)))
    inside = [w for w in (around.start - 1, *around, around.stop) if whole(window, w, starts, expires)]
    if not inside:
        return None
    return {"first": inside[0], "last": inside[-1], "reports": math.ceil(Fraction(len(inside), report_every))}


def date_index(name: str, day: str) -> int:
    return window(name, date(day))


def whole(window: str, index: int, starts: str, expires: str) -> bool:
    start, end = span(window, index)
    return date(starts) <= start and end <= date(expires)


def due(
    secret: str,
    collection: str,
    indices: list[int],
    window: str,
    starts: str,
    expires: str,
    report_every: int,
    rotation: str = "",
) -> Any:
    words = stream(secret, collection, "", "", "turn", [report_every])
    turn = choose(report_every, words) + int(rotation.split(":")[1] if rotation else 0)
    return [whole(window, index, starts, expires) and (index - turn) % report_every == 0 for index in indices]


def arrival(window: str, index: int, grace: int, now: float) -> str:
    _, end = span(window, index)
    return "too_early" if end > now + 600 else "too_late" if end + grace <= now else "taken"
