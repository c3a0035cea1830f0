"""The answers of a collector's read listener, over HTTP."""

import http.client
import ipaddress
import os
import re
from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from hubbub.answers.sources import AnswersError, Span
from hubbub.errors import ParameterError
from hubbub.estimates import NO_WINDOWS, Known, Period, Row, WindowWords, check_level
from hubbub.estimates.words import Progress
from hubbub.lock import NAME
from hubbub.mechanisms.word_table import Control
from hubbub.windows import iso

SECONDS = 30.0  # that the listener may be silent
MAX_ANSWER = 256 << 20  # bytes: some hundred thousand rows
_PRINTABLE = re.compile(r"[!-~]+")
_LOCAL = ("localhost", "localhost.")
T = TypeVar("T")


class _Problem(msgspec.Struct):
    """What a listener says that does not take a request (RFC 9457)."""

    type: str
    title: str
    parameter: str = ""
    value: str = ""
    expected: str = ""


class Listener:
    """The read listener at an address.

    Raises:
        ParameterError: Not an address, or plain http to another machine.
    """

    def __init__(self, url: str) -> None:
        expected = "a store file, or the address of a read listener such as http://127.0.0.1:8378"
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ParameterError("address", url, expected) from None
        surplus = parts.query or parts.fragment or "@" in parts.netloc or port == 0
        if parts.scheme not in ("http", "https") or not host or surplus or not _PRINTABLE.fullmatch(url):
            raise ParameterError("address", url, expected)
        if parts.scheme == "http" and not _loopback(host):
            raise ParameterError("address", url, "an https address where the listener is on another machine")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._url = url.rstrip("/")
        self._prefix = parts.path.rstrip("/")
        self._connection = kind(host, port or kind.default_port, timeout=SECONDS)

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    @property
    def ahead(self) -> bool:
        """Never: a listener has its own clock."""
        return False

    def metrics(self) -> list[Known]:
        """Every version of every metric, by name, newest first."""
        return self._get(list[Known], "/v1/metrics")

    def rows(self, metric: str | None, within: Span, segment: str | None, level: float) -> list[Row]:
        """Estimates by metric, window, version and segment."""
        names = [] if metric is None else [metric]
        if metric is None:
            names = sorted({known.name for known in self.metrics() if segment is None or segment in known.segments})
        query = _query(within, segment, level)
        return [row for name in names for row in self._of(name, list[Row], "estimates", query)]

    def period(
        self,
        metric: str,
        within: Span,
        segment: str | None,
        version: int | None,
        level: float,
        category: str | None = None,
    ) -> Period:
        """The mean over the windows within."""
        query = _query(within, segment, level)
        if version is not None:
            query["version"] = str(version)
        if category is not None:
            query["category"] = category
        return self._of(metric, Period, "mean", query)

    def words(
        self,
        metric: str,
        candidates: Sequence[str],
        within: Span,
        segment: str | None,
        level: float,
        control: Control,
        progress: Progress,
    ) -> list[WindowWords]:
        """Refused: a listener tells estimates, and words are found in summaries.

        Raises:
            ParameterError: Always.
        """
        raise ParameterError("STORE", self._url, "the store's file where words are looked for: summaries stay there")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _of(self, metric: str, kind: type[T], what: str, query: dict[str, str]) -> T:
        try:
            if not NAME.fullmatch(metric):
                raise _UnknownMetricError
            return self._get(kind, f"/v1/metrics/{metric}/{what}?{urlencode(query)}")
        except _UnknownMetricError:
            names = ", ".join(sorted({known.name for known in self.metrics()}))
            raise ParameterError("metric", metric, f"one of {names}" if names else "in the store") from None
        except _NoWindowsError:
            raise ParameterError("metric", metric, NO_WINDOWS) from None

    def _get(self, kind: type[T], target: str) -> T:
        status, media, body = self._ask(target)
        try:
            if status == 200 and media == "application/json":
                return msgspec.json.decode(body, type=kind)
            if status != 200 and media == "application/problem+json":
                _refuse(self._url, msgspec.json.decode(body, type=_Problem))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass
        raise AnswersError(
            f"{self._url}: answers (status {status}), but not as the read listener of `hubbub serve`, whose address"
            ' that command prints after "reading on"'
        )

    def _ask(self, target: str) -> tuple[int, str, bytes]:
        headers = {"accept": "application/json"}
        try:
            try:
                self._connection.request("GET", self._prefix + target, headers=headers)
                answer = self._connection.getresponse()
            except (ConnectionResetError, BrokenPipeError, http.client.RemoteDisconnected):
                self._connection.close()  # the listener hung up since the last answer; asking is harmless
                self._connection.request("GET", self._prefix + target, headers=headers)
                answer = self._connection.getresponse()
            body = answer.read(MAX_ANSWER + 1)
        except OSError as error:
            self._connection.close()
            reason = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error)
            raise AnswersError(f"{self._url}: no answer ({reason})") from None
        except http.client.HTTPException:
            self._connection.close()
            raise AnswersError(f"{self._url}: no answer that is HTTP") from None
        if len(body) > MAX_ANSWER:
            self._connection.close()
            raise AnswersError(f"{self._url}: the answer is longer than {MAX_ANSWER} bytes; ask for fewer windows")
        return answer.status, (answer.getheader("content-type") or "").partition(";")[0].strip(), body


class _UnknownMetricError(Exception):
    """The listener does not know the metric."""


class _NoWindowsError(Exception):
    """No window of the metric has ended in the span."""


def _refuse(url: str, problem: _Problem) -> None:
    code = problem.type.removeprefix("urn:hubbub:problem:")
    if code == "unknown_metric":
        raise _UnknownMetricError
    if code == "no_windows":
        raise _NoWindowsError
    if code == "invalid_parameter" and problem.parameter:
        raise ParameterError(problem.parameter, problem.value, problem.expected)
    if code == "not_found":
        return
    raise AnswersError(f"{url}: {problem.title}")


def _query(within: Span, segment: str | None, level: float) -> dict[str, str]:
    check_level(level)
    query = {"level": repr(float(level))}
    for name, seconds in within._asdict().items():
        if seconds is not None:
            query[name] = _time(seconds)
    if segment is not None:
        query["segment"] = segment
    return query


def _time(seconds: float) -> str:
    whole = int(seconds // 1)
    micros = round((seconds - whole) * 1_000_000)
    return iso(whole) if not micros else f"{iso(whole)[:-1]}.{min(micros, 999_999):06}Z"


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() in _LOCAL
