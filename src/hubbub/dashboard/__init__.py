"""The read process: estimates over HTTP and in the store's table `estimates`, for this machine alone."""

from hubbub.dashboard.app import create_app

__all__ = ["create_app"]
