"""Pages as a browser would have them, without one: elements, words, links, and the chart's specification."""

import asyncio
import html
import json
import re
from html.parser import HTMLParser
from typing import Any

from starlette.types import ASGIApp, Message, Scope


class Page:
    """An answer with what a browser would make of it."""

    def __init__(self, status: int, headers: dict[str, str], text: str) -> None:
        self.status, self.headers, self.text = status, headers, text
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        parser = HTMLParser()
        parser.handle_starttag = lambda tag, attrs: self.tags.append(  # type: ignore[method-assign]
            (tag, {name: value or "" for name, value in attrs})
        )
        parser.handle_data = self._hear  # type: ignore[method-assign]
        parser.feed(text)

    def _hear(self, data: str) -> None:
        self.words += " " + " ".join(data.split())

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        """The attributes of each such element."""
        return [found for name, found in self.tags if name == tag and wanted.items() <= found.items()]

    def linked(self) -> list[str]:
        return [html.unescape(found["href"]) for found in self.all("a") if "href" in found]


async def fetch(app: ASGIApp, path: str, headers: dict[str, str], method: str) -> Page:
    path, _, query = path.partition("?")
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": query.encode()}
    messages: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()  # nobody hangs up
        raise AssertionError

    async def send(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, send)
    fields = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return Page(messages[0]["status"], fields, b"".join(part["body"] for part in messages[1:]).decode())


def page(app: ASGIApp, path: str, method: str = "GET", **headers: str) -> Page:
    found = asyncio.run(fetch(app, path, headers, method))
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    return found


def spec(found: Page) -> Any:
    (text,) = re.findall(r'<script type="application/json" id="chart-spec">(.*?)</script>', found.text, re.DOTALL)
    return json.loads(text)
