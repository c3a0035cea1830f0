"""`hubbub serve`: take reports over HTTP and keep them, show what they tell."""

import time
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from hubbub.cli.output import complain, fail
from hubbub.errors import LockError

LOOPBACK = "127.0.0.1"
DEV_SUFFIX = ".dev"  # of a store whose time is not that of the world
_GAVE_UP = 1


def serve(
    lock: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="A metrics.lock; once for each release of the app that is in use."),
    ],
    store: Annotated[Path, typer.Option(metavar="PATH", help="SQLite file for the reports; made if it is not there.")],
    host: Annotated[str, typer.Option(help="Address that devices post to.")] = LOOPBACK,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of it; 0 takes any free one.")] = 8377,
    read_host: Annotated[
        str, typer.Option(help="Address that estimates are read from; one of this machine alone.")
    ] = LOOPBACK,
    read_port: Annotated[int, typer.Option(min=0, max=65535, help="Port of it; 0 takes any free one.")] = 8378,
    stopped: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help='Let metrics end early: lines such as "app.used" = 2027-01-01.'),
    ] = None,
    dev: Annotated[
        bool, typer.Option("--dev", help="Let a day pass in 10 s, with a store of its own (PATH.dev).")
    ] = False,
    clock: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read the time, in unix seconds, from this file.")
    ] = None,
    with_parent: Annotated[bool, typer.Option("--with-parent", hidden=True)] = False,
) -> None:
    """Take reports over HTTP, keep them and show what they tell, until SIGTERM or Ctrl-C.

    A report is acknowledged once it is on disk, and counted once however often it is sent. No address, user agent or
    time is stored. Two processes do the work, one for devices and one for readers; one that dies is started again.
    """
    from hubbub.serving import supervisor
    from hubbub.serving.settings import DEV_SPEED, Settings, is_loopback

    if dev and clock is not None:
        fail("--dev has a clock of its own; leave --clock out")
    if not is_loopback(read_host):
        fail(f"--read-host must be an address of this machine alone, such as 127.0.0.1; got {read_host!r}")
    settings = Settings(
        store=str(store) + (DEV_SUFFIX if dev else ""),
        dev=dev,
        origin=time.time(),
        clock=None if clock is None else str(clock),
        locks=tuple(_read(path) for path in lock),
        stopped=None if stopped is None else str(stopped),
    )

    def started(ingest: tuple[str, int], read: tuple[str, int]) -> None:
        address = ingest[0]
        if not is_loopback(address):
            complain(f"warning: whoever reaches {address} can send reports; nothing here tells devices from impostors")
        mark = " (dev)" if dev else ""
        print(f"hubbub: listening on {supervisor.url(*ingest)}{mark}")
        print(f"hubbub: reading on {supervisor.url(*read)}{mark}", flush=True)
        if dev:
            complain(
                f"dev: a day passes in 10 s, into {settings.store}; devices keep up with "
                f"clock=ScaledClock({DEV_SPEED:g}, {settings.origin:.3f}, {settings.origin:.3f})"
            )
            complain(f"dev: look at {supervisor.url(*read)}/ in a browser; `{_crowd(lock[0], ingest, read)}` fills it")

    try:
        supervisor.serve(
            settings,
            host=host,
            port=port,
            read_host=read_host,
            read_port=read_port,
            with_parent=with_parent,
            started=started,
            say=complain,
        )
    except supervisor.GaveUpError as error:
        complain(str(error))
        raise typer.Exit(_GAVE_UP) from None


def _crowd(lock: Path, ingest: tuple[str, int], read: tuple[str, int]) -> str:
    """The command that fills these listeners with pretend devices."""
    from hubbub.serving import supervisor

    command = f"hubbub crowd {quote(str(lock))}"
    if ingest != (LOOPBACK, supervisor.INGEST_PORT):
        command += f" --collector {supervisor.url(*ingest)}"
    if read != (ingest[0], ingest[1] + 1):
        command += f" --read {supervisor.url(*read)}"
    return command


def _read(path: Path) -> str:
    """The text of a metrics.lock that can be used."""
    from hubbub.lock import parse

    try:
        text = path.read_text("utf-8")
        parse(text)
    except OSError as error:
        raise LockError(str(path), f"cannot be read ({(error.strerror or '').lower()})", _REMEDY) from None
    except UnicodeDecodeError:
        raise LockError(str(path), "is not UTF-8", _REMEDY) from None
    except LockError as error:
        raise LockError(f"{path}: {error.where}", error.problem, error.remedy) from None
    return text


_REMEDY = "`hubbub registry build` writes it"
