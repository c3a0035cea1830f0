"""Errors of hubbub: each names the parameter, its value and its range; private values are never part of a message."""

from typing import Self


class HubbubError(Exception):
    """Root of all errors that hubbub raises on purpose."""


class ParameterError(HubbubError, ValueError):
    """A public parameter is out of its range.

    Args:
        name: The parameter, as the caller wrote it.
        value: Its value; public, so it is repeated in the message.
        expected: The range or form that would have been accepted.
    """

    def __init__(self, name: str, value: object, expected: str) -> None:
        super().__init__(f"{name} must be {expected}; got {value!r}")
        self.name = name
        self.value = value
        self.expected = expected

    def __reduce__(self) -> tuple[type[Self], tuple[str, object, str]]:
        return type(self), (self.name, self.value, self.expected)


class PrivateValueError(HubbubError, ValueError):
    """A person's value cannot be encoded. The message says where it stood and what was expected, never the value."""


class PayloadError(HubbubError, ValueError):
    """A wire payload is not one that the encoder could have sent."""


class LockError(HubbubError, ValueError):
    """A metrics.lock is malformed, of another schema, or does not fit its own hashes.

    Args:
        where: Path of the key inside the lock, such as `metrics."editor.minutes".hash`.
        problem: What is wrong with it.
        remedy: What to do about it.
    """

    def __init__(self, where: str, problem: str, remedy: str = "run `hubbub registry build` again") -> None:
        super().__init__(f"{where}: {problem}; {remedy}")
        self.where = where
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str]]:
        return type(self), (self.where, self.problem, self.remedy)
