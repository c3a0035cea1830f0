"""A tab that watches its pages: what they say, ask of the network or let run out of the window is a fault."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Self
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, Response, Route, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (  # nothing of its own over the network
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 10_000  # milliseconds
NARROW, WIDE = 360, 1440
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
# How wide the page is and the first parts that are too wide; a box that scrolls by itself may hold more than it shows.
_OVERFLOW = """() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const held = e => e && (getComputedStyle(e).overflowX !== 'visible' || held(e.parentElement));
    const wide = [...document.body.querySelectorAll('*')]
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !held(e.parentElement)).slice(0, 5);
    return [document.documentElement, ...wide].map(e => `${e.localName}.${e.className} ${e.scrollWidth} px`);
}"""


@contextmanager
def started() -> Iterator[Browser]:
    """A browser without a window.

    Raises:
        LookupError: There is none.
    """
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise LookupError(f"no browser: none of {', '.join(NAMES)} is on the path")
    with sync_playwright() as playwright:
        root = os.geteuid() == 0  # Chromium has no sandbox for root
        browser = playwright.chromium.launch(executable_path=path, args=[*QUIET], chromium_sandbox=not root)
        yield browser
        browser.close()


class Look:
    """One tab in a context of its own, used again for page after page."""

    def __init__(self, browser: Browser, *, javascript: bool = True, bypass_csp: bool = False) -> None:
        self._context = browser.new_context(java_script_enabled=javascript, bypass_csp=bypass_csp)
        self._context.set_default_timeout(PATIENCE)
        self._javascript = javascript
        self._host = ""
        self._faults: list[str] = []
        self._context.route("**/*", self._let_through)
        self.page: Page = self._context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self._faults.append(f"error: {error}"))
        self.page.on("dialog", self._asked)
        self.page.on("requestfailed", lambda request: self._faults.append(f"failed: {request.url} {request.failure}"))
        self.page.on("response", self._answered)

    def open(self, url: str, *, scheme: Scheme = "light", width: int = WIDE, status: int = 200) -> Page:
        """Open a page, which must be answered with this status, and wait until its chart is drawn."""
        self._faults.clear()
        self._host = urlsplit(url).netloc
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        self.page.set_viewport_size({"width": width, "height": 900})
        answer = self.page.goto(url, wait_until="load")
        assert answer is not None
        assert answer.status == status, f"{url}: {answer.status} {answer.text()[:300]}"
        if self._javascript and self.page.locator("#chart-spec").count():
            self.page.locator("#chart[data-drawn=yes]").wait_for()
        return self.page

    def turn(self, scheme: Scheme, width: int) -> None:
        """The same page in other light and another width, as a hand on the window or nightfall does it.

        Only where scripts run: without them no frame is told of.
        """
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def faults(self) -> list[str]:
        """What was wrong since `open`: each as one line."""
        self.page.wait_for_load_state("load")  # of the page that a click led to: without its style all is too wide
        wide = self.page.evaluate(_OVERFLOW)
        return [*dict.fromkeys(self._faults), *(f"runs out of the window: {what}" for what in wide)]

    def _let_through(self, route: Route, request: Request) -> None:
        if urlsplit(request.url).netloc == self._host:
            route.continue_()
        else:
            self._faults.append(f"asks another host: {request.url}")
            route.abort()

    def _said(self, message: ConsoleMessage) -> None:
        self._faults.append(f"console {message.type}: {message.text}")

    def _asked(self, dialog: Dialog) -> None:
        self._faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self._faults.append(f"answered {response.status}: {response.url}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.close()
