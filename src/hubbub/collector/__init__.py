"""The collector: takes reports in over HTTP and acknowledges what its store holds for good."""

from hubbub.collector.app import create_app
from hubbub.collector.server import serve

__all__ = ["create_app", "serve"]
