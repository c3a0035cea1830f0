"""The parent of `hubbub serve`: holds both sockets, and keeps a process running for each until it is told to stop.

Everything that can fail is tried before anything is served. A child learns its settings from its standard input, which
stays open for as long as the parent lives, so that it ends when the parent dies, however that happens. It says on its
standard output that it serves, or why it cannot. Standard library alone: the children carry the weight.
"""

import errno
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from hubbub.errors import HubbubError, ParameterError
from hubbub.serving.claim import Claim
from hubbub.serving.settings import Settings

INGEST_PORT, READ_PORT = 8377, 8378
PATIENCE_SECONDS = 2.0  # for a port or a store that an ended collector is about to let go of
DEATHS, DEATH_SECONDS = 5, 60.0  # so many ends of one child within so long, and all of it ends
_STOP_SECONDS = 15.0  # for children that finish what they have begun; a little more than they take at most
_LOOK_SECONDS = 0.5  # between two looks at the parent's own parent


class GaveUpError(HubbubError):
    """A child ended by itself again and again."""


class _ToldToStopError(Exception):
    pass


@dataclass(eq=False)
class Child:
    """A process that serves one listener: `python -m MODULE DESCRIPTOR`."""

    name: str
    module: str
    listener: socket.socket
    settings: Settings
    keeps: tuple[int, ...] = ()
    state: Literal["starting", "ready", "dead"] = "dead"
    said: bytes = b""
    deaths: deque[float] = field(default_factory=lambda: deque(maxlen=DEATHS))

    def spawn(self) -> None:
        """Start the process, which loads what it needs and then waits for its settings."""
        descriptor = self.listener.fileno()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", self.module, str(descriptor)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(descriptor, *self.keeps),
        )
        self.state, self.said = "starting", b""

    def tell(self) -> None:
        """Hand over the settings, upon which it begins to serve."""
        assert self.process.stdin is not None
        settings = self.settings.dump()
        with suppress(BrokenPipeError, ValueError):  # it is dead, its pipe perhaps closed, and its output says so
            self.process.stdin.write(settings)
            self.process.stdin.flush()

    def listen(self) -> None:
        """Take in what it says: that it is ready, or why it is not; an end of its output is its own end."""
        assert self.process.stdout is not None
        part = os.read(self.process.stdout.fileno(), 65_536)
        self.said += part
        if not part:
            self.state = "dead"
            self.process.wait()
        elif self.said == b"ready\n":
            self.state = "ready"

    def reason(self) -> str:
        """Why it ended."""
        try:
            return str(json.loads(self.said)["error"])
        except (ValueError, KeyError, TypeError):
            code = self.process.returncode
            return f"signal {-code}" if code < 0 else f"exit code {code}"

    def bury(self) -> None:
        """Let go of the pipes of an ended process."""
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = INGEST_PORT,
    read_host: str = "127.0.0.1",
    read_port: int = READ_PORT,
    with_parent: bool = False,
    started: Callable[[tuple[str, int], tuple[str, int]], None] = lambda ingest, read: None,
    say: Callable[[str], None] = lambda message: None,
) -> None:
    """Take reports and show estimates until SIGTERM or SIGINT.

    Args:
        settings: For both children.
        host: Address or name that devices post to.
        port: 0 takes any free one.
        read_host: Address or name, of this machine alone, that estimates are read from.
        read_port: 0 takes any free one.
        with_parent: Also stop when the process that started this one ends.
        started: Called with address and port of both listeners once both are served.
        say: Called with what an operator should know.

    Raises:
        ParameterError: An address cannot be listened on, or the clock not read.
        ClaimError: Another collector takes reports into the store.
        HubbubError: A child cannot start, such as for a store or a lock that cannot be used.
        GaveUpError: A child ended by itself again and again.
    """
    settings.time().now()
    if port and port == read_port:
        raise ParameterError("read-port", read_port, f"another port than {port}, to which devices post")
    with ExitStack() as stack:
        ingest, read = stack.enter_context(bind(host, port)), stack.enter_context(bind(read_host, read_port))
        claim = stack.enter_context(Claim(settings.store, PATIENCE_SECONDS))
        addresses = ingest.getsockname()[:2], read.getsockname()[:2]
        settings = replace(settings, ingest=url(*addresses[0]), read=url(*addresses[1]))
        children = (
            Child("ingest", "hubbub.collector", ingest, settings, (claim.descriptor,)),
            Child("read", "hubbub.dashboard", read, replace(settings, locks=())),
        )
        supervisor = stack.enter_context(_Supervisor(children, os.getppid() if with_parent else None, say))
        try:
            supervisor.start()
            started(*addresses)
            supervisor.watch()
        except _ToldToStopError:
            pass


def url(address: str, port: int) -> str:
    """Where HTTP is spoken at this address."""
    return f"http://{f'[{address}]' if ':' in address else address}:{port}"


def bind(host: str, port: int) -> socket.socket:
    """A listening socket: connections wait in its queue until its process serves.

    Raises:
        ParameterError: The address is no address of this machine, or not free.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
            return socket.create_server((host, port), family=family, backlog=2048)
        except socket.gaierror as error:
            reason = str(error.strerror)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            if error.errno == errno.EADDRINUSE and time.monotonic() < deadline:
                time.sleep(0.05)
                continue
        expected = f"an address that is free to listen on ({reason.lower()})"
        raise ParameterError("host:port", f"{host}:{port}", expected) from None


class _Supervisor:
    """Keeps children running; a context manager that ends them."""

    def __init__(self, children: Sequence[Child], parent: int | None, say: Callable[[str], None]) -> None:
        self._children = children
        self._parent = parent
        self._say = say
        self._stack = ExitStack()

    def __enter__(self) -> "_Supervisor":
        self._selector = self._stack.enter_context(selectors.DefaultSelector())
        self._selector.register(self._stack.enter_context(_signals()), selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        with self._stack:
            for child in self._children:
                child.listener.close()  # nobody else is let in
            running = [child for child in self._children if child.state != "dead"]
            for child in running:
                child.process.terminate()
            deadline = time.monotonic() + _STOP_SECONDS
            for child in running:
                try:
                    child.process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    self._say(f"warning: the {child.name} process did not end in time and is killed")
                    child.process.kill()
                    child.process.wait()
                child.bury()

    def start(self) -> None:
        """Start all children, one after the other once they have loaded."""
        for child in self._children:
            self._spawn(child)
        for child in self._children:
            child.tell()
            while child.state == "starting":
                self._turn()
            if child.state == "dead":
                raise HubbubError(child.reason())

    def watch(self) -> None:
        """Start again what ends by itself."""
        while True:
            for child in self._children:
                if child.state == "dead":
                    self._revive(child)
            self._turn()

    def _revive(self, child: Child) -> None:
        child.deaths.append(time.monotonic())
        ended = f"the {child.name} process ended by itself ({child.reason()})"
        if len(child.deaths) == DEATHS and child.deaths[-1] - child.deaths[0] < DEATH_SECONDS:
            raise GaveUpError(f"{ended}, {DEATHS} times within {DEATH_SECONDS:g} s; what was acknowledged is stored")
        self._say(f"warning: {ended} and is started again; what was acknowledged is stored")
        self._spawn(child)
        child.tell()

    def _spawn(self, child: Child) -> None:
        child.spawn()
        assert child.process.stdout is not None
        self._selector.register(child.process.stdout, selectors.EVENT_READ, child)

    def _turn(self) -> None:
        """Wait for what comes next: a word or the end of a child, or the order to stop."""
        ready = self._selector.select(None if self._parent is None else _LOOK_SECONDS)
        if self._parent not in (None, os.getppid()) or any(key.data is None for key, _ in ready):
            raise _ToldToStopError
        for key, _ in ready:
            key.data.listen()
            if key.data.state == "dead":
                self._selector.unregister(key.fileobj)
                key.data.bury()


@contextmanager
def _signals() -> Iterator[socket.socket]:
    """A socket that can be read once SIGTERM or SIGINT has come."""
    numbers = signal.SIGTERM, signal.SIGINT
    listening, ringing = socket.socketpair()
    with listening, ringing:
        ringing.setblocking(False)
        handlers = {number: signal.signal(number, lambda *_: None) for number in numbers}
        before = signal.set_wakeup_fd(ringing.fileno())
        try:
            yield listening
        finally:
            signal.set_wakeup_fd(before)
            for number, handler in handlers.items():
                signal.signal(number, handler)
