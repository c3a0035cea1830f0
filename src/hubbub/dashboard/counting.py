"""Counters for Prometheus, as the store holds them, renewed so rarely that no single report's arrival shows."""

import math
import threading
import time
from typing import get_args

from hubbub.serving.contract import OPERATIONS, Code
from hubbub.store import PROBLEMS_TOTAL, REPORTS_TOTAL, Store

COARSE_SECONDS = 60.0
_REPORTS = ("accepted", "duplicate", *get_args(Code))
_PROBLEMS = ("method_not_allowed", *(c for o in OPERATIONS if o.body for codes in o.problems.values() for c in codes))


class Counters:
    """The text that Prometheus reads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn = threading.Lock()
        self._text, self._made = "", -math.inf

    def text(self) -> str:
        """All counters, as they stood at most a minute ago.

        Raises:
            StoreError: The store cannot be read.
        """
        with self._turn:
            if time.monotonic() - self._made >= COARSE_SECONDS:
                self._text = self._counted()
                self._made = time.monotonic()
            return self._text

    def _counted(self) -> str:
        lines = []
        for name, codes, summary in (
            (REPORTS_TOTAL, _REPORTS, "Reports by what became of them."),
            (PROBLEMS_TOTAL, _PROBLEMS, "Uploads that were refused as a whole, by reason."),
        ):
            lines += [f"# HELP {name} {summary}", f"# TYPE {name} counter"]
            counted = dict.fromkeys(codes, 0) | self._store.counters(name)
            lines += [f'{name}{{code="{code}"}} {value}' for code, value in sorted(counted.items())]
        return "\n".join(lines) + "\n"
