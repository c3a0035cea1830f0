"""`hubbub serve` without the command line: bind, open, then run until told to stop."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence

import uvicorn

from hubbub.clock import Clock, SystemClock
from hubbub.collector.app import create_app
from hubbub.errors import ParameterError
from hubbub.lock import Lock
from hubbub.store import open_store

PORT = 8377
_CONNECTIONS = 1000  # at once; the next ones are answered 503
_IDLE_SECONDS = 5  # how long a connection is kept for a next request; idle ones count among those _CONNECTIONS
_GRACE_SECONDS = 10  # for requests that are running when it is told to stop
_WATCH_SECONDS = 0.5  # between two looks at the parent process


def serve(
    locks: Sequence[Lock],
    store: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    clock: Clock | None = None,
    with_parent: bool = False,
    started: Callable[[str, int], None] = lambda address, port: None,
) -> None:
    """Take reports of the metrics in `locks` into the store at `store` until SIGTERM or SIGINT.

    Everything that can fail is tried before anything is served.

    Args:
        locks: The releases of an app in use side by side.
        store: A SQLite file, made if it is not there.
        host: Address or name to listen on.
        port: 0 takes any free one.
        clock: What decides that a report is early or late; the machine's by default.
        with_parent: Also stop when the process that started this one ends.
        started: Called with address and port once requests can come in.

    Raises:
        ParameterError: The address cannot be listened on, or the clock not read.
        StoreError: The store cannot be opened.
        LockError: The locks do not fit each other or what the store holds.
    """
    clock = clock or SystemClock()
    clock.now()
    with _bind(host, port) as listener, open_store(store) as opened:
        config = uvicorn.Config(
            create_app(opened, locks, clock=clock),
            loop="uvloop",
            http="httptools",
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        server = uvicorn.Server(config)
        if with_parent:
            threading.Thread(target=_watch, args=(os.getppid(), server), daemon=True).start()
        # Once stopped, uvicorn raises the signal again; by then there is nothing left to interrupt.
        before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            started(*listener.getsockname()[:2])
            server.run(sockets=[listener])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _bind(host: str, port: int) -> socket.socket:
    """A listening socket: connections wait in its queue until the server runs."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except socket.gaierror as error:
        reason = str(error.strerror)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
    raise ParameterError("host:port", f"{host}:{port}", f"an address that is free to listen on ({reason.lower()})")


def _watch(parent: int, server: uvicorn.Server) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    server.should_exit = True
