"""What a child of `hubbub serve` does: take its settings, build its application, serve it on the socket it is given."""

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import uvicorn
from starlette.types import ASGIApp

from hubbub.errors import HubbubError
from hubbub.serving.protocol import Protocol
from hubbub.serving.settings import Settings

CONNECTIONS = 1000  # at once; the next ones are answered 503
IDLE_SECONDS = 5  # how long a connection is kept for a next request; idle ones count among those CONNECTIONS
GRACE_SECONDS = 10  # for requests that are running when it is told to stop
_UNUSABLE = 2


def run(build: Callable[[Settings], AbstractContextManager[ASGIApp]]) -> None:
    """Serve until SIGTERM, SIGINT or the death of the parent.

    The first argument on the command line is the descriptor of a listening socket, the first line of standard input
    holds the settings; "ready" on standard output, or an error as JSON, is the answer.

    Args:
        build: Makes the application; what it holds is closed once nothing is served any more.
    """
    line = sys.stdin.buffer.readline()
    if not line:
        return
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        with build(Settings.load(line)) as app, socket.socket(fileno=int(sys.argv[1])) as listener:
            _serve(app, listener)
    except HubbubError as error:
        _say(json.dumps({"error": str(error)}))
        raise SystemExit(_UNUSABLE) from None


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        _say("ready")


def _serve(app: ASGIApp, listener: socket.socket) -> None:
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=Protocol,
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # Once stopped, uvicorn raises the signal again; by then there is nothing left to interrupt.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    _Server(config).run(sockets=[listener])


def _end_with_parent() -> None:
    """Nothing more comes on standard input, so its end is that of the parent.

    A killed parent is followed at once: what was acknowledged is stored, what was not is sent again, and port and
    store are free for whoever comes next.
    """
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(0)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
