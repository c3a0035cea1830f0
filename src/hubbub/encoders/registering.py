"""Encoders and mechanisms by name: those of hubbub, those that were registered, those that other packages bring.

A package brings one by an entry point, whose name is that of the class. They are loaded when a name is asked for that
is not known, or when all are asked for, so that a device which needs none of them never looks.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from hubbub.errors import ParameterError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Classes by name, in the order in which they became known.

    Args:
        group: Of the entry points.
        known: Those of hubbub.
    """

    def __init__(self, group: str, known: Iterable[T]) -> None:
        self._group = group
        self._known: dict[str, T] = {_name(found): found for found in known}
        self._looked = False

    def register(self, found: T) -> None:
        """Take in a class of another package.

        Raises:
            ParameterError: Its name is taken; a name means one law for ever.
        """
        if self._known.setdefault(_name(found), found) is not found:
            raise ParameterError("name", _name(found), "one that no other mechanism has")

    def __getitem__(self, name: str) -> T:
        if name not in self._known:
            self._look()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        self._look()
        return iter(self._known)

    def __len__(self) -> int:
        self._look()
        return len(self._known)

    def _look(self) -> None:
        if not self._looked:
            self._looked = True
            for point in entry_points(group=self._group):
                self.register(point.load())


def _name(found: object) -> str:
    return str(found.name)  # type: ignore[attr-defined]
