"""metrics.toml as a whole: what stands at its top, and the definitions that were accepted from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Struct

from hubbub.definitions.forms import Name, key
from hubbub.definitions.models import Definition
from hubbub.lock import COLLECTION

SCHEMA = "hubbub.registry/1"


class Document(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What people write about the metrics of one collection; `hubbub registry build` turns it into metrics.lock."""

    schema: Annotated[
        Literal["hubbub.registry/1"], key("Form of this file.", f'write schema = "{SCHEMA}", or use another release')
    ]
    collection: Annotated[
        str,
        key(
            "Id of the app or service; part of every permanent answer, so never change it.",
            'write it in a-z, 0-9, _ and -, as in collection = "editor-desktop"',
            "an id of at most 64 characters",
            pattern=f"^{COLLECTION.pattern}$",
        ),
    ]
    metrics: Annotated[
        dict[Name, Definition],
        key(
            "The metrics by name.",
            'add a table such as [metrics."editor.used"]; `hubbub init` writes a first file',
            "one table for each metric",
            min_length=1,
        ),
    ]


@dataclass(frozen=True)
class Registry:
    """An accepted metrics.toml.

    Attributes:
        file: Where it was read, for messages.
        collection: Id of the app or service.
        metrics: The definitions by name.
    """

    file: str
    collection: str
    metrics: Mapping[str, Definition]
