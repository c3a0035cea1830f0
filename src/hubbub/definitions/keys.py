"""What the models say about each key of metrics.toml: as data for checks and messages, and as a JSON Schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from hubbub.definitions.document import Document
from hubbub.definitions.kinds import KINDS
from hubbub.definitions.models import Definition
from hubbub.lock import AGGREGATES, MAX_INTEGER


@dataclass(frozen=True)
class Key:
    """One key of a table in metrics.toml; `type` is what msgspec converts to."""

    type: Any
    meta: Meta
    default: Any

    @property
    def required(self) -> bool:
        """Whether it must be there, whatever the kind."""
        return self.default is msgspec.NODEFAULT

    @property
    def remedy(self) -> str:
        """What to do where it is wrong."""
        return str((self.meta.extra or {})["remedy"])

    @property
    def ascii(self) -> bool:
        """Whether its texts are held to letters of ASCII."""
        return self.meta.pattern is not None or get_origin(self.type.__origin__) is dict

    @property
    def words(self) -> tuple[str, ...]:
        """The words of which one stands there; none where other values may."""
        return get_args(self.type.__origin__) if get_origin(self.type.__origin__) is Literal else ()

    @property
    def expected(self) -> str:
        """What may stand there, in words."""
        base, meta = self.type.__origin__, self.meta
        if form := (meta.extra or {})["form"]:
            return str(form)
        if self.words:
            words = [f'"{word}"' for word in self.words]
            return words[0] if len(words) == 1 else "one of " + ", ".join(words)
        if base is bool:
            return "true or false"
        if base is str:
            return f"text of {meta.min_length or 0} to {meta.max_length} characters"
        noun = "a whole number" if base is int else "a number"
        return (
            f"{noun} >= {meta.ge}, below 2**53"
            if meta.le == MAX_INTEGER
            else f"{noun} in [{_plain(meta.ge)}, {_plain(meta.le)}]"
        )


def _plain(limit: float | None) -> str:
    return f"{Decimal(repr(limit)).normalize():f}"


def _keys(struct: type[Struct]) -> Mapping[str, Key]:
    keys = {}
    for field in msgspec.structs.fields(struct):
        kept = field.type if get_origin(field.type) is Annotated else get_args(field.type)[0]
        made = field.default_factory
        keys[field.name] = Key(kept, kept.__metadata__[0], field.default if made is msgspec.NODEFAULT else made())
    return keys


KEYS = _keys(Definition)  # of one metric
TOP = _keys(Document)  # of the file
DOMAIN = tuple(dict.fromkeys(key for domain in KINDS.values() for key in (*domain.required, *domain.optional)))


def kinds_with(key: str) -> list[str]:
    """The kinds that a key of a domain belongs to."""
    return [kind for kind, domain in KINDS.items() if key in domain.required + domain.optional]


def schema() -> dict[str, Any]:
    """JSON Schema of metrics.toml, for editors; spec/schemas/registry.json holds the same."""
    tree = msgspec.json.schema(Document)
    tree["$defs"]["Definition"]["allOf"] = [
        {
            "if": {"properties": {"kind": {"const": kind}}},
            "then": {
                "required": list(domain.required),
                "properties": {
                    "aggregate": {"enum": list(AGGREGATES[kind])},
                    **{key: False for key in DOMAIN if kind not in kinds_with(key)},
                },
            },
        }
        for kind, domain in KINDS.items()
    ]
    for table in tree["$defs"].values():
        table["properties"] = {name: _present(form) for name, form in table["properties"].items()}
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hubbub:schema:registry:1",
        "title": "metrics.toml",
    }
    return head | tree


def _present(form: dict[str, Any]) -> dict[str, Any]:
    """An optional key is left out in TOML, which has no null."""
    return dict(form["anyOf"][0]) if form.get("default", ...) is None else form
