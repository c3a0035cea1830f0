"""Checks of form: summaries merge, bad input is refused in the right words, integers and bytes bring all back."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.vector import Coordinates
from hubbub.errors import ParameterError, PayloadError, PrivateValueError
from hubbub.mechanisms.base import Mechanism, Reports
from hubbub.summary import Summary
from hubbub.testing.mechanisms.cases import Case, as_reports, bulk, hold, laws, looked_at, simulated, some_values
from hubbub.testing.words import GeneratorWords
from hubbub.wire import pack, unpack

SEED = 20_261_203
PEOPLE = 701  # more ones than a byte counts
BAD_LOSSES: tuple[Any, ...] = (0, -1, math.nan, math.inf, 1e-9, 1000, "1", True)
BAD_LEVELS: tuple[Any, ...] = (0, 1, -1, math.nan, "0.95")
SECRET = 47_114_711  # a private value that would be recognised in any message
MOST_PAYLOADS = 5_000  # that are looked at one by one
UNNAMED = object()  # a parameter too large to repeat


def check_batches_and_merges(case: Case) -> None:
    """Summaries of parts add up to that of the whole; no reports are the neutral element; bytes bring it back."""
    mechanism = case.build()
    shape = mechanism.counts_shape
    reports = bulk(mechanism, some_values(mechanism, PEOPLE), GeneratorWords(_rng()))
    whole, none = mechanism.summarise(reports), mechanism.summarise(reports[:0])
    hold(whole.n == PEOPLE and whole.counts.shape == shape, f"{PEOPLE} reports give {whole}, counts_shape is {shape}")
    hold(whole.counts.dtype == np.int64, f"counts are {whole.counts.dtype}, not int64")
    hold(none.n == 0 and none.counts.shape == shape and not none.counts.any(), f"no reports give {none}")
    a, b, c = (mechanism.summarise(part) for part in (reports[:1], reports[1:100], reports[100:]))
    hold((a + b) + c == whole, f"parts add up to {a + b + c}, the whole is {whole}")
    hold((a + b) + c == a + (b + c), "adding summaries is not associative")
    hold(a + b == b + a, "adding summaries is not commutative")
    hold(whole + none == whole == none + whole and none + none == none, "no reports are not the neutral element")
    singly = none
    for report in reports:
        singly += mechanism.summarise(report[None])
    hold(singly == whole, "reports one at a time give another summary")
    hold(mechanism.summarise(_rng().permutation(reports)) == whole, "the summary depends on the order of the reports")
    hold(Summary.from_bytes(whole.n, whole.to_bytes(), shape) == whole, "the bytes of a summary give another one back")
    _refuses("counts.shape", (*shape, 3), Summary.__add__, whole, Summary(1, np.zeros((*shape, 3), np.int64)))
    _refuses("counts", UNNAMED, Summary.from_bytes, whole.n, whole.to_bytes() + b"\0", shape)
    for wrong in _wrong_reports(reports, mechanism.encoder.radices):
        _refuses("reports", UNNAMED, mechanism.summarise, wrong)


def check_refusals(case: Case) -> None:
    """Bad parameters are named with value and range; private values by position only, and never shown."""
    mechanism, cls, domain = case.build(), case.cls, dict(case.domain)
    for bad in (*BAD_LOSSES, None):
        _refuses("epsilon", bad, cls.from_epsilon, bad, **domain)
    for bad in BAD_LOSSES:
        _refuses("permanent_epsilon", bad, cls.from_epsilon, case.epsilon, **{**domain, "permanent_epsilon": bad})
    if case.permanent_epsilon is not None:
        _refuses("permanent_epsilon", case.permanent_epsilon, cls.from_epsilon, case.permanent_epsilon + 1, **domain)
    _refuses("encoder", UNNAMED, cls.from_encoder, object())
    empty = np.zeros(mechanism.counts_shape, np.int64)
    _refuses("summary.n", 0, mechanism.estimate, Summary(0, empty))
    _refuses("n", 0, mechanism.variance, mechanism.truth(0), 0)
    size = len(looked_at(mechanism.encoder))
    for counts in (np.ones(size + 1, np.int64), -np.ones(size, np.int64), np.full(size, 0.5)):
        _refuses("truth_counts", UNNAMED, simulated, mechanism, counts, _rng())
    estimate = mechanism.estimate(mechanism.summarise(as_reports(list(laws(mechanism)[0]))))
    for bad in BAD_LEVELS:
        _refuses("level", bad, estimate.interval, bad)
    _check_private_values(case)


def check_canonical(case: Case) -> None:
    """Its integers build an encoder again, its encoder the mechanism; both are frozen values."""
    mechanism = case.build()
    encoder = mechanism.encoder
    integers = encoder.canonical()
    hold(all(type(i) is int and 0 <= i <= SCALE for i in integers), f"canonical() is {integers}, not all integers")
    again = type(encoder)(*integers)
    hold(again == encoder and hash(again) == hash(encoder), f"canonical() builds {again} from {encoder}")
    grid = {name: getattr(mechanism, name) for name in ("lower", "step", "labels") if hasattr(mechanism, name)}
    twin = case.cls.from_encoder(again, **grid)
    hold(twin == mechanism and hash(twin) == hash(mechanism), f"from_encoder builds {twin} from {mechanism}")
    hold(case.build() == mechanism, "the same parameters give another mechanism")
    hold(encoder.name == case.cls.name, f"the encoder of {case.cls.name} is called {encoder.name}")
    for thing in (encoder, mechanism):
        hold(len(vars(thing)) > 0, f"{type(thing).__name__} holds no parameters")
        for field in vars(thing):
            hold(not _settable(thing, field), f"{type(thing).__name__}.{field} can be changed")


def check_wire(case: Case) -> None:
    """Every payload of the law travels: its hex, always of one length, brings back that payload."""
    mechanism = case.build()
    radices = mechanism.encoder.radices
    texts = set()
    for payload in laws(mechanism)[0]:
        try:
            text = pack(payload, radices)
            arrived = unpack(text, radices)
        except PayloadError as error:
            raise AssertionError(f"{payload} cannot travel with radices {radices}: {error}") from error
        hold(arrived == payload, f"{payload} travels as {text} and arrives as {arrived}")
        texts.add(text)
    _check_possible(mechanism)
    hold(len(texts) == len(laws(mechanism)[0]), "two payloads travel as the same text")
    hold(len({len(text) for text in texts}) == 1, "payloads travel at different lengths")


def _check_possible(mechanism: Mechanism) -> None:
    """The encoder tells payloads that can be sent from those that only fit their radices."""
    sent, radices = laws(mechanism)[0], mechanism.encoder.radices
    if math.prod(radices) > MOST_PAYLOADS:
        return
    for payload in product(*map(range, radices)):
        found = mechanism.encoder.possible(payload)
        hold(found == (payload in sent), f"possible({payload}) is {found}")


def _check_private_values(case: Case) -> None:
    mechanism, encoder = case.build(), case.build().encoder
    secret = SECRET if encoder.size <= SECRET else SECRET * 10**9
    for outside in (secret, -SECRET, encoder.size, -1):
        _hides(1, mechanism.randomise, _people(encoder, 0, outside), GeneratorWords(_rng()))
        _hides(None, encoder.permanent, outside, _no_words)
    _hides(None, mechanism.randomise, _people(encoder, 0.5, SECRET + 0.5), GeneratorWords(_rng()))
    private: Any
    for private in (SECRET + 0.5, math.nan, True, "47114711"):
        _hides(None, encoder.permanent, private, _no_words)
    for private in (object(), [SECRET], {SECRET: 1}, SECRET * 1j, b"47114711"):
        _hides(None, mechanism.index, [private])
    if "words" in case.cls.kinds:
        for private in (SECRET, None, b"4711", "\udc00"):
            _hides(1, mechanism.index, ["4711", private])
    elif isinstance(encoder, Coordinates):
        for private in (math.nan, math.inf, -math.inf):
            _hides(2, mechanism.index, _people(encoder, 0.0, 0.0, private))
        for private in ("47114711", None):
            _hides(None, mechanism.index, [[0.0] * encoder.dimension, [private] * encoder.dimension])
        _hides(None, mechanism.index, np.full((2, encoder.dimension + 1), SECRET))
    elif not case.domain.get("categories") or isinstance(case.domain["categories"], int):
        good = float(case.domain.get("lower") or 0)
        for private in (math.nan, math.inf, -math.inf):
            _hides(2, mechanism.index, [good, good, private])
        for private in ("47114711", None):
            _hides(None, mechanism.index, [good, private])


def _people(encoder: Encoder, *values: float) -> Any:
    """Bulk values; where they are vectors, rows whose last coordinate is the value."""
    if not isinstance(encoder, Coordinates):
        return np.array(values)
    return np.column_stack([np.zeros((len(values), encoder.dimension - 1), type(values[0])), np.array(values)])


def _rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def _no_words(purpose: str, *key: int) -> Any:
    raise AssertionError(f"words for {purpose} are drawn before the value is looked at")


def _wrong_reports(reports: Reports, radices: tuple[int, ...]) -> list[Reports]:
    right = reports.astype(np.int64)
    return [right[:, 0], np.hstack([right, right]), right + np.array(radices), right - np.array(radices), right / 1.0]


def _settable(thing: object, field: str) -> bool:
    try:
        setattr(thing, field, getattr(thing, field))
    except AttributeError:
        return False
    return True


def _refuses(name: str, value: object, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Hold that the call is refused, naming the parameter or a part of it, its value and its range."""
    try:
        function(*args, **kwargs)
    except ParameterError as error:
        hold(f"{error.name}.".startswith(f"{name}."), f"{error.name} is named instead of {name}: {error}")
        hold(bool(error.expected) and error.expected in str(error), f"no range in: {error}")
        hold(value is UNNAMED or repr(value) in str(error), f"the value {value!r} is not named: {error}")
    except Exception as error:
        raise AssertionError(f"{name}: {error!r} instead of a ParameterError") from error
    else:
        raise AssertionError(f"{name}: a bad value is accepted" + ("" if value is UNNAMED else f": {value!r}"))


def _hides(position: int | None, function: Callable[..., Any], *args: Any) -> None:
    """Hold that the call is refused without its private value, naming its position if it has one."""
    try:
        function(*args)
    except PrivateValueError as error:
        shown = f"{error} {error.__cause__}"
        hold("4711" not in shown, "a private value stands in a message")
        hold(position is None or f"[{position}]" in shown, f"position {position} is not named: {error}")
    except Exception as error:
        raise AssertionError(f"a private value is met by {type(error).__name__}, not by PrivateValueError") from error
    else:
        raise AssertionError("a private value that cannot be encoded is accepted")
