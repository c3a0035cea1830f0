"""What happens to clients when their process ends or forks. Hooks are set once, at the first client that needs them."""

import atexit
import os
import time
import weakref
from typing import Protocol

EXIT_SECONDS = 2.0  # that the end of the program waits for requests under way, whatever the number of clients


class Hosted(Protocol):
    """A client, as the process sees it."""

    def leave(self, budget: float) -> None:
        """The process ends; the client may take so many seconds."""
        ...

    def before_fork(self) -> None:
        """No thread may be within the state while the process forks."""
        ...

    def after_fork(self, *, child: bool) -> None:
        """The process has forked."""
        ...


_hosted: "dict[int, weakref.ref[Hosted]]" = {}
_hooked = False


def watch(client: Hosted) -> None:
    """Tell the client when the process ends or forks."""
    global _hooked
    key = id(client)
    _hosted[key] = weakref.ref(client, lambda _: _hosted.pop(key, None))
    if not _hooked:
        _hooked = True
        atexit.register(_leave)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)


def _clients() -> list[Hosted]:
    return [client for reference in list(_hosted.values()) if (client := reference()) is not None]


def _leave() -> None:
    deadline = time.monotonic() + EXIT_SECONDS
    for client in _clients():
        client.leave(max(0.0, deadline - time.monotonic()))


def _before() -> None:
    for client in _clients():
        client.before_fork()


def _in_parent() -> None:
    for client in _clients():
        client.after_fork(child=False)


def _in_child() -> None:
    for client in _clients():
        client.after_fork(child=True)
