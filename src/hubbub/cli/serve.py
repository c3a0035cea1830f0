"""`hubbub serve`: take reports over HTTP and keep them."""

import ipaddress
from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.output import complain


def serve(
    lock: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="A metrics.lock; once for each release of the app that is in use."),
    ],
    store: Annotated[Path, typer.Option(metavar="PATH", help="SQLite file for the reports; made if it is not there.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free one.")] = 8377,
    clock: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read the time, in unix seconds, from this file.")
    ] = None,
    with_parent: Annotated[bool, typer.Option("--with-parent", hidden=True)] = False,
) -> None:
    """Take reports over HTTP and keep them until SIGTERM or Ctrl-C.

    A report is acknowledged once it is on disk, and counted once however often it is sent. No address, user agent or
    time is stored.
    """
    from hubbub import collector
    from hubbub.clock import FileClock
    from hubbub.definitions import read_lock

    collector.serve(
        [read_lock(path) for path in lock],
        store,
        host=host,
        port=port,
        clock=None if clock is None else FileClock(clock),
        with_parent=with_parent,
        started=_started,
    )


def _started(address: str, port: int) -> None:
    ip = ipaddress.ip_address(address)
    if not ip.is_loopback:
        complain(f"warning: whoever reaches {address} can send reports; nothing here tells devices from impostors")
    print(f"hubbub: listening on http://{f'[{address}]' if ip.version == 6 else address}:{port}", flush=True)
