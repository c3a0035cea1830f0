"""Points in time as people and programs write them."""

import datetime
import re

from hubbub.errors import ParameterError

Instant = str | datetime.date | datetime.datetime  # a datetime is a date as well
_EXPECTED = "an ISO date (its midnight in UTC) or time, such as 2026-12-01 or 2026-12-01T06:00:00Z"
_FORM = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)


def instant(name: str, value: Instant | None) -> float | None:
    """Unix seconds of a point in time; what has no offset is UTC, and no point in time is None.

    Args:
        name: What a message calls it.
        value: A date, standing for its midnight, a datetime, or either as ISO text.

    Raises:
        ParameterError: Anything else.
    """
    if value is None:
        return None
    moment: datetime.date = datetime.datetime.min
    if isinstance(value, str):
        try:
            if not _FORM.fullmatch(value):
                raise ValueError
            moment = datetime.datetime.fromisoformat(value)
        except ValueError:
            raise ParameterError(name, value, _EXPECTED) from None
    elif isinstance(value, datetime.date):
        moment = value
    else:
        raise ParameterError(name, value, _EXPECTED)
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    try:
        return moment.astimezone(datetime.UTC).timestamp()
    except OverflowError:  # its offset takes it out of the years that there are
        raise ParameterError(name, value, _EXPECTED) from None
