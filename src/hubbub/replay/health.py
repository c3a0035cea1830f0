"""What a collector says of itself at `/healthz`: that it is there, whose reports it keeps, and what time it is."""

import http.client
import json
import math
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from hubbub.client import HttpTransport
from hubbub.client.state import is_time
from hubbub.clock import ScaledClock
from hubbub.errors import HubbubError, ParameterError

_SECONDS = 10.0  # that it may be silent
_LAST_PORT = 65_535


class Health(NamedTuple):
    """One answer."""

    mode: str  # "real" or "dev"
    clock: ScaledClock | None  # None: the machine's, or it is a read listener, which tells none


def ask(endpoint: str, remedy: str) -> Health:
    """Ask the collector at an address.

    Args:
        endpoint: Where devices post.
        remedy: What to say where none answers.

    Raises:
        HubbubError: Nothing answers there, or something else.
        ParameterError: Not an address.
    """
    HttpTransport(endpoint)  # which refuses what is no address
    parts = urlsplit(endpoint)
    kind: Any = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port or kind.default_port, timeout=_SECONDS)
    try:
        connection.request("GET", parts.path.rstrip("/") + "/healthz")
        tree = json.loads(connection.getresponse().read(1 << 16))
        if tree["status"] != "alive":
            raise ValueError
        clock = None
        if told := tree.get("clock"):
            speed, origin = float(told["speed"]), float(told["origin"])
            if not (math.isfinite(speed) and is_time(origin)):
                raise ValueError
            clock = ScaledClock(speed, origin, origin)
        return Health(tree.get("mode", "real"), clock)
    except OSError as error:
        raise HubbubError(f"nothing answers at {endpoint} ({reason(error)}); {remedy}") from None
    except (http.client.HTTPException, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise HubbubError(f"what answers at {endpoint} is no collector of this release; {remedy}") from None
    finally:
        connection.close()


def next_port(endpoint: str) -> str:
    """Where a collector reads if it is not told otherwise.

    Raises:
        ParameterError: There is no next port.
    """
    parts = urlsplit(endpoint)
    port = (parts.port or (443 if parts.scheme == "https" else 80)) + 1
    if port > _LAST_PORT:
        expected = f"an address below port {_LAST_PORT}, where none to read at is given"
        raise ParameterError("endpoint", endpoint, expected)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{port}"


def reason(error: OSError) -> str:
    """Why a connection failed, within a sentence."""
    return (error.strerror or str(error) or type(error).__name__).lower()
