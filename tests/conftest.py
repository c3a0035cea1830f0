"""What every test shares: hypothesis draws the same examples in every run, and no example has a deadline."""

import os

from hypothesis import settings

settings.register_profile("hubbub", derandomize=True, deadline=None)
settings.load_profile("hubbub")

for name in ("DO_NOT_TRACK", "CI"):  # of whoever runs the tests: their devices are nobody's
    os.environ.pop(name, None)
