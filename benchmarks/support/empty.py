"""The HTTP server of the collector around a handler that does nothing with a body; prints its port."""

import socket
from typing import Any

import uvicorn

from hubbub.serving.process import CONNECTIONS, IDLE_SECONDS
from hubbub.serving.protocol import Protocol

ANSWER = b'{"accepted":0,"results":[]}'


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer 200 once the body is there."""
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(ANSWER)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


if __name__ == "__main__":
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=Protocol,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
    )
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        print(listener.getsockname()[1], flush=True)
        uvicorn.Server(config).run(sockets=[listener])
