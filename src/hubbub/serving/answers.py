"""Headers that every answer carries, as a layer around an application."""

from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hubbub.store import Store

SECURITY: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


def mode(store: Store) -> list[tuple[bytes, bytes]]:
    """What marks answers out of a store of `serve --dev`; those of a real one need no mark."""
    return [(b"hubbub-mode", b"dev")] if store.dev else []


def with_headers(app: ASGIApp, headers: Iterable[tuple[bytes, bytes]]) -> ASGIApp:
    """The application, with these headers on everything it answers; those that it sets itself stay."""
    added = list(headers)
    if not added:
        return app

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", []))
                names = {name.lower() for name, _ in own}
                message = {**message, "headers": own + [field for field in added if field[0] not in names]}
            await send(message)

        await app(scope, receive, sending if scope["type"] == "http" else send)

    return wrapped
