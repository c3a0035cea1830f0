"""What every test shares: hypothesis draws the same examples in every run, and no example has a deadline."""

import importlib
import os
import sys

from hypothesis import settings

settings.register_profile("hubbub", derandomize=True, deadline=None)
settings.load_profile("hubbub")

for name in ("DO_NOT_TRACK", "CI"):  # of whoever runs the tests: their devices are nobody's
    os.environ.pop(name, None)

# dp-accounting logs by absl, whose handler keeps the stream that it meets when it is imported. uvicorn ends handlers
# when it starts, and absl's then closes that stream unless it is the process's own: it must not be one of pytest's.
importlib.import_module("absl.logging").get_absl_handler().python_handler.stream = sys.__stderr__
