"""One Chromium and one read listener per seed for all tests here; without Chromium they are left out, and say so.

Where HUBBUB_BROWSER is set, as it is where one was installed for the purpose, they fail instead.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
from playwright.sync_api import Browser

from tests.e2e.browser import seeds
from tests.e2e.browser.looking import Look, started
from tests.e2e.browser.sites import Site, dashboard


# The package's: what drives the browser runs an event loop in this thread, and tests elsewhere run their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The only one; without it, these tests are left out."""
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(started())
        except LookupError as error:
            if os.environ.get("HUBBUB_BROWSER"):
                raise
            pytest.skip(str(error))
        yield opened


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Site]]:
    """The dashboard over the seed of a name, made when it is first asked for."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(dashboard(seeds.make(name, tmp_path_factory.mktemp(name)))))


@pytest.fixture(scope="package")
def look(browser: Browser) -> Iterator[Look]:
    """One tab for all that scripts may do; every look is judged when it ends."""
    with Look(browser) as look:
        yield look


@pytest.fixture(scope="package")
def plain(browser: Browser) -> Iterator[Look]:
    """One tab in which no script of a page runs."""
    with Look(browser, javascript=False) as look:
        yield look
