"""What is asked for: the parameters of a request, each with the name, value and range of what is wrong with it."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request

from hubbub.errors import ParameterError
from hubbub.estimates import instant
from hubbub.serving.problems import RequestError

_LONGEST = 100  # characters of a value

Parser = Callable[[str, str], Any]  # name and text to what an estimate takes


def _level(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(name, text, "a number in (0, 1)") from None


def _version(name: str, text: str) -> int:
    try:
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            raise ValueError
        return int(text)
    except ValueError:
        raise ParameterError(name, text, "an integer from 1 on") from None


def _text(name: str, text: str) -> str:
    return text


SPAN: Mapping[str, Parser] = {"start": instant, "end": instant, "segment": _text, "level": _level}
MEAN: Mapping[str, Parser] = {**SPAN, "version": _version}


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
            if len(text) > _LONGEST:
                raise ParameterError(name, text[:_LONGEST] + "…", f"at most {_LONGEST} characters")
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
