"""A first metrics.toml: a share and a mean, commented."""

import datetime

_TEXT = """\
# What is measured, for whom, and at what price. Check it:   hubbub registry lint metrics.toml
# Build what ships inside the app and is reviewed with it:   hubbub registry build metrics.toml

schema = "hubbub.registry/1"
# Id of this app; part of every permanent answer, so never change it.
collection = "{collection}"

# A yes or no: the share of devices that say yes. The metric for small fleets.
[metrics."app.used_search"]
version = 1                       # only ever rises; a new meaning or encoding needs a new version
kind = "boolean"
description = "Whether search was used, per installation and day"
purpose = "Decide whether search deserves a place on the first screen"
owners = ["telemetry@example.org"]
epsilon = 1.0                     # what one report may give away: even odds become 73.2 % at most
permanent_epsilon = 2.0           # what a device that never changes may give away, for ever
window = "day"                    # one report in each: hour | day | week, in UTC
starts = {starts}
expires = {expires}              # at most 400 days later; `hubbub registry renew` prolongs
expected_devices = 4_000          # devices that run in one window, here a day: lint says their worth
target_margin = 0.05              # wanted half-width of the 95 % interval: 5 points of the share

# A number: its mean over all devices on which the app ran.
[metrics."app.minutes"]
version = 1
kind = "mean"
description = "Minutes the app was in front, per installation and day"
purpose = "Decide which platform to speed up first"
owners = ["telemetry@example.org"]
unit = "min"
lower = 0                         # smaller and larger values are clipped to the range
upper = 480                       # half the range is worth four times the devices
step = 1
epsilon = 1.0
strategy = "memo"                 # memo: permanent answers, cheap for steady devices | fresh: all drawn anew
permanent_epsilon = 2.0
window = "day"
starts = {starts}
expires = {expires}
grace = "14d"                     # how long after its window a report may still arrive: h | d | w
report_every = 1                  # r: each device reports in every r-th window only
# dimensions = {{ channel = ["stable", "beta"] }}   # public facts, sent in the clear with the report
expected_devices = 4_000
target_margin = 20                # in the unit
min_reports = 100                 # nothing is shown for fewer
"""


def template(collection: str, today: datetime.date) -> str:
    """The text of a first metrics.toml, measured from tomorrow on for 364 days."""
    starts = today + datetime.timedelta(days=1)
    return _TEXT.format(collection=collection, starts=starts, expires=starts + datetime.timedelta(days=364))
