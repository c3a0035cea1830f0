"""What every test shares: hypothesis draws the same examples in every run, and no example has a deadline."""

from hypothesis import settings

settings.register_profile("hubbub", derandomize=True, deadline=None)
settings.load_profile("hubbub")
