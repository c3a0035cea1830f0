"""What looks at the pages sees what it is there to see; the seeds hold what they promise."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hubbub.estimates import rows
from hubbub.serving.answers import with_headers
from hubbub.store import open_store
from tests.e2e.browser.looking import NARROW, Look
from tests.e2e.browser.seeds import NOW
from tests.e2e.browser.sites import Site, served

FAULTS = {
    "<script>1</script>": "Content Security Policy",
    "<p style='color: red'>": "Content Security Policy",
    "<script src=/says></script>": "console log: something",
    "<script src=/throws></script>": "error: thrown",
    "<script src=/asks></script>": "dialog: sure?",
    "<script src=/missing></script>": "answered 404",
    "<img src=http://elsewhere.example/>": "asks another host: http://elsewhere.example/",
    "<table><td>" + "x" * 100: "runs out of the window: table",
}
SCRIPTS = {"says": "console.log('something')", "throws": "throw 'thrown'", "asks": "alert('sure?')"}


@pytest.fixture(scope="module")
def faulty() -> Iterator[str]:
    """A site whose page says what it is asked to say, under the policy of pages and for images of any host."""

    def page(request: Request) -> Response:
        content = f"<!doctype html><title>x</title><link rel=icon href=data:,>{request.query_params['content']}"
        return Response(content, media_type="text/html")

    def script(request: Request) -> Response:
        return Response(SCRIPTS[request.path_params["name"]], media_type="text/javascript")

    def missing(request: Request) -> Response:
        return Response("", 404)

    routes = [Route("/", page), Route("/missing", missing), Route("/{name}", script)]
    policy = b"default-src 'none'; script-src 'self'; style-src 'self'; img-src * data:"
    with served(with_headers(Starlette(routes=routes), [(b"content-security-policy", policy)])) as url:
        yield url


@pytest.mark.parametrize(("content", "expected"), FAULTS.items(), ids=FAULTS)
def test_a_fault_is_seen(faulty: str, look: Look, content: str, expected: str) -> None:
    look.open(f"{faulty}/?content={content}", width=NARROW)
    assert any(expected in fault for fault in look.faults()), look.faults()
    look.open(f"{faulty}/?content=<p>fine</p>", width=NARROW)
    assert look.faults() == []


def test_a_page_that_is_not_there_is_a_fault(site: Callable[[str], Site], browser: Browser) -> None:
    with Look(browser) as look, pytest.raises(AssertionError, match="404"):
        look.open(site("silent").url + "/nowhere")


def test_states_are_all_there(site: Callable[[str], Site]) -> None:
    def states(name: str, metric: str) -> set[str]:
        with open_store(site(name).seed.path, read_only=True) as store:
            return {row.state for row in rows(store, now=NOW, metric=metric)}

    every = {"open", "empty", "suppressed", "too_uncertain", "provisional", "final"}
    assert states("states", "state.mixed") == every
    for state in ("suppressed", "too_uncertain", "open", "provisional"):
        assert state in states("states", f"state.{state}")
    assert states("full", "editor.minutes") == {"provisional", "final"}
    assert states("silent", "editor.minutes") == set()
