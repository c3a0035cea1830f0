"""What is asked for: the parameters of a request, each with the name, value and range of what is wrong with it."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request

from hubbub.dashboard.detail import MOST
from hubbub.errors import ParameterError
from hubbub.estimates import instant
from hubbub.serving.problems import RequestError

_LONGEST = 100  # characters of a value
_LONGEST_SEGMENT = 8192  # a label may join dozens of values of 64 characters

Parser = Callable[[str, str], Any]  # name and text to what an estimate takes


def _level(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(name, text, "a number in (0, 1)") from None


def _whole(most: int | None = None) -> Parser:
    def parse(name: str, text: str) -> int:
        try:
            if not (text.isascii() and text.isdigit() and 0 < int(text) <= (most or int(text))):
                raise ValueError
            return int(text)
        except ValueError:
            expected = "an integer from 1 on" if most is None else f"an integer in [1, {most}]"
            raise ParameterError(name, text, expected) from None

    return parse


def _text(name: str, text: str) -> str:
    return text


def _any(parser: Parser) -> Parser:
    """Nothing, as a form sends it, is all."""
    return lambda name, text: parser(name, text) if text else None


ROWS: Mapping[str, Parser] = {
    "start": instant,
    "end": instant,
    "segment": _text,
    "version": _whole(),
    "level": _level,
    "category": _text,
}
LIST: Mapping[str, Parser] = {"q": _text, "page": _whole()}
PAGE: Mapping[str, Parser] = {
    "segment": _text,
    "category": _any(_text),
    "version": _any(_whole()),
    "windows": _whole(MOST),
    "end": _any(instant),
}


def parameters(request: Request, parsers: Mapping[str, Parser]) -> dict[str, Any]:
    """The parameters of the query.

    Raises:
        RequestError: One that is not known, stands twice, or is not what it must be.
    """
    found: dict[str, Any] = {}
    try:
        for name, text in request.query_params.multi_items():
            if name not in parsers:
                raise ParameterError("query", name[:_LONGEST], "made of " + ", ".join(parsers))
            if name in found:
                raise ParameterError(name, text[:_LONGEST], "given once")
            most = _LONGEST_SEGMENT if name == "segment" else _LONGEST
            if len(text) > most:
                raise ParameterError(name, text[:_LONGEST] + "…", f"at most {most} characters")
            found[name] = parsers[name](name, text)
    except ParameterError as error:
        raise invalid(error) from None
    return found


def invalid(error: ParameterError) -> RequestError:
    """The answer to a parameter that is out of its range."""
    value = error.value if isinstance(error.value, str) else repr(error.value)
    return RequestError(
        400, "invalid_parameter", str(error), parameter=error.name, value=value, expected=error.expected
    )
