"""What keeps a request from being answered: as a page for people, as a problem in JSON for programs."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from hubbub.errors import HubbubError, ParameterError
from hubbub.serving.problems import RequestError, refused, unavailable
from hubbub.store import StoreError

Page = Callable[[Request, int, str], Response]


class Refusing:
    """Turns what keeps the store or the clock from being read into an answer."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, StoreError):
            raise unavailable("the store cannot be read") from None
        if isinstance(error, ParameterError) and error.name == "clock":
            raise unavailable("the clock cannot be read") from None
        if isinstance(error, HubbubError):
            raise unavailable("what the store holds cannot be shown") from None


def handlers(page: Page) -> dict[Any, Any]:
    """For Starlette: what to do about each kind of error.

    Args:
        page: Makes the page of a status and a sentence.
    """

    async def handled(request: Request, error: Exception) -> Response:
        if not _for_people(request):
            return await refused(request, error)
        if isinstance(error, RequestError):
            answer = page(request, error.status, str(error))
            answer.headers.update(error.headers)
            return answer
        assert isinstance(error, HTTPException)
        sentence = "There is no such page." if error.status_code == 404 else error.detail
        answer = page(request, error.status_code, sentence)
        answer.headers.update(error.headers or {})
        return answer

    handler: Callable[[Request, Exception], Awaitable[Response]] = handled
    return {HTTPException: handler, RequestError: handler}


def _for_people(request: Request) -> bool:
    path = request.url.path
    if path == "/" or path.startswith("/m/"):
        return True
    return not path.startswith(("/v1/", "/assets/")) and "text/html" in request.headers.get("accept", "")
