"""A second reading of spec/: every operation of the vectors, written from its pages and not from hubbub.

A module for each page; the class of a mechanism joins the others in `mechanisms`. It imports nothing but the standard
library and takes other ways than hubbub wherever there are two: bits as text, laws summed over every alpha, logarithms
of fifty digits, intervals as roots found by halving.
"""

from collections.abc import Callable, Mapping
from decimal import localcontext
from typing import Any

from tests.vectors.reader import mechanisms, places, registry, windows, wire, words
from tests.vectors.reader.words import RefusedError

__all__ = ["OPERATIONS", "RefusedError", "answer"]


def answer(op: str, given: Mapping[str, Any]) -> Any:
    """What the pages say that the answer to one entry is.

    Raises:
        RefusedError: They do not allow the input.
    """
    with localcontext(prec=50):
        return OPERATIONS[op](**given)


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "fields": words.fields,
    "prf": words.prf,
    "below": words.below,
    "encoding_hash": words.encoding_hash,
    "report_id": words.report_id,
    "window": windows.window,
    "span": windows.span,
    "date": windows.date,
    "life": windows.life,
    "due": windows.due,
    "arrival": windows.arrival,
    "pack": wire.pack,
    "unpack": wire.unpack,
    "tick": registry.tick,
    "word": places.word,
    "encoder": mechanisms.encoder,
    "permanent": mechanisms.permanent,
    "answer": mechanisms.answer,
    "report": mechanisms.report,
    "bulk": mechanisms.bulk,
    "law": mechanisms.law,
    "prices": mechanisms.prices,
    "estimate": mechanisms.estimate,
}
