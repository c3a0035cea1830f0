"""The collector: takes reports in over HTTP and acknowledges what its store holds for good."""

from hubbub.collector.app import create_app
from hubbub.collector.stopped import StoppedError

__all__ = ["StoppedError", "create_app"]
