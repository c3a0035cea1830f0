"""Checks of a metric that look at several keys at once, or further into one than its type does."""

import datetime
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hubbub.definitions.forms import duration
from hubbub.definitions.keys import DOMAIN, KEYS, kinds_with
from hubbub.definitions.kinds import KINDS
from hubbub.definitions.problems import Problem, foreign, toml, toml_key
from hubbub.encoders import registry as encoders
from hubbub.encoders.one_bit_mean import MAX_ENTRIES, MAX_TICKS
from hubbub.lock import AGGREGATES, DIMENSION, LABEL, MAX_CELLS, MAX_GRACE, MAX_LIFE, MILLION, MIN_GRACE, NONE
from hubbub.mechanisms import registry as mechanisms
from hubbub.mechanisms.base import MAX_EPSILON, MIN_EPSILON, default_permanent
from hubbub.mechanisms.vector import TICKS
from hubbub.windows import midnight, windows

Values = Mapping[str, Any]  # keys that are right by themselves, defaults filled in
Check = Callable[[Values, Values], Iterator[Problem]]
_FINE = 1000  # steps of a vector's range, unless it has fewer millionths: rounding is off by 1/2000 of it at most


def millionths(number: float) -> int:
    """A number of at most 10⁹ with at most 6 decimals in millionths, exactly."""
    return round(number * MILLION)


def mechanisms_for(kind: str, strategy: str = "fresh") -> list[str]:
    """Mechanisms whose encoders take metrics of a kind, and that measure it in this way, the default first."""
    fit = (name for name in mechanisms if name in encoders and kind in encoders[name].kinds)
    return [name for name in fit if strategy == "fresh" or mechanisms[name].memo]


def _kind(values: Values, given: Values) -> Iterator[Problem]:
    kind, domain = values["kind"], KINDS[values["kind"]]
    names = mechanisms_for(kind)
    for key in DOMAIN:
        if given.get(key) is not None and kind not in kinds_with(key):
            owners = " and ".join(kinds_with(key))
            yield Problem(key, toml(given[key]), f"belongs to the kind {owners}, not to {kind}", f"remove {key}")
    for key in domain.required:
        if key not in given:
            yield Problem(key, "", f"is missing: the kind {kind} needs it", KEYS[key].remedy)
    if values.get("mechanism", names[0]) not in names:
        problem = f"is not a mechanism for the kind {kind} in this release"
        yield Problem("mechanism", toml(given["mechanism"]), problem, f"leave it out, or use {' or '.join(names)}")


def _grid(values: Values, given: Values) -> Iterator[Problem]:
    if values["kind"] != "mean":
        return
    lower, upper, step = (millionths(values[key]) for key in ("lower", "upper", "step"))
    if upper <= lower:
        yield Problem(
            "upper", toml(given["upper"]), f"is not above lower = {toml(given['lower'])}", KEYS["upper"].remedy
        )
        return
    ticks, rest = divmod(upper - lower, step)
    if rest:
        problem = f"is not a whole number of steps of {toml(given.get('step', 1))} above lower = {toml(given['lower'])}"
        near = [decimal(lower + count * step) for count in (ticks, ticks + 1) if count]
        yield Problem("upper", toml(given["upper"]), problem, f"write upper = {' or '.join(near)}, or a finer step")
    elif ticks > MAX_TICKS:
        problem = f"cuts the range into {ticks} steps, more than {MAX_TICKS}"
        yield Problem("step", toml(given.get("step", 1)), problem, "write a coarser step")
    elif "bucket" in values and not -(-ticks // MAX_ENTRIES) <= values["bucket"] <= ticks:
        problem = f"is not in [{-(-ticks // MAX_ENTRIES)}, {ticks}], counted in steps"
        remedy = f"at most {MAX_ENTRIES} buckets fit into a range; leave bucket out for the whole range"
        yield Problem("bucket", toml(given["bucket"]), problem, remedy)


def _aggregate(values: Values, given: Values) -> Iterator[Problem]:
    kind, word = values["kind"], values["aggregate"]
    if word not in AGGREGATES[kind]:
        near = " or ".join(toml(known) for known in AGGREGATES[kind])
        yield Problem("aggregate", toml(word), f"is nothing that values of the kind {kind} come to", f"write {near}")
    elif word == "share" and ("lower" in values and "upper" in values):
        for key, end in (("lower", 0), ("upper", 1)):
            if values[key] != end:
                yield Problem(key, toml(given[key]), "is not that of a share of yes", f"write {key} = {end}")
        if kind == "mean" and values["step"] >= 1:
            problem = "is too coarse: every share would be rounded to 0 or 1"
            yield Problem("step", toml(given.get("step", 1)), problem, "write step = 0.01")


def _active(values: Values, given: Values) -> Iterator[Problem]:
    if not values["active"] or values["kind"] != "mean":
        return
    lower, upper, step = (millionths(values[key]) for key in ("lower", "upper", "step"))
    if not lower <= 0 <= upper or lower % step:
        problem = "needs 0 among the values: it is the number of those that record nothing"
        yield Problem("active", "true", problem, "write lower = 0")
    if values["epsilon"] < 2 * MIN_EPSILON:
        problem = "is too little to be shared by two reports"
        yield Problem("epsilon", toml(given["epsilon"]), problem, f"write epsilon = {2 * MIN_EPSILON:g} or more")


def decimal(count: int) -> str:
    """Millionths as a decimal number, without needless zeros."""
    whole, rest = divmod(abs(count), MILLION)
    sign = "-" if count < 0 else ""
    return f"{sign}{whole}.{rest:06d}".rstrip("0").rstrip(".") if rest else f"{sign}{whole}"


def _buckets(values: Values, given: Values) -> Iterator[Problem]:
    if values["kind"] != "histogram":
        return
    lower, upper, buckets = millionths(values["lower"]), millionths(values["upper"]), values["buckets"]
    if upper <= lower:
        yield Problem(
            "upper", toml(given["upper"]), f"is not above lower = {toml(given['lower'])}", KEYS["upper"].remedy
        )
    elif (upper - lower) % buckets:
        near = min((b for b in range(2, 4097) if not (upper - lower) % b), key=lambda b: abs(b - buckets), default=0)
        problem = f"cuts {decimal(upper - lower)} into buckets whose width has more than 6 decimals"
        remedy = f"write buckets = {near}" if near else "write another upper"
        yield Problem("buckets", toml(given["buckets"]), problem, remedy)


def _categories(values: Values, given: Values) -> Iterator[Problem]:
    if values["kind"] != "choice":
        return
    labels = values["categories"]
    if NONE in labels:
        problem = f"has {toml(NONE)}, which every choice has anyway: devices that have nothing to report"
        yield Problem("categories", toml(given["categories"]), problem, f"remove {toml(NONE)} from the list")
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        problem = f"has {toml(twice[0])} twice"
        yield Problem("categories", toml(given["categories"]), problem, "list each label once")


def steps(norm: int) -> int:
    """Steps from -norm to norm, in millionths: as many as can be of whole millionths, `TICKS` at most."""
    return next(ticks for ticks in range(min(2 * norm, TICKS), 0, -1) if not 2 * norm % ticks)


def _norm(values: Values, given: Values) -> Iterator[Problem]:
    if values["kind"] != "vector":
        return
    norm = millionths(values["norm"])
    if steps(norm) < min(2 * norm, _FINE):
        problem = f"leaves {steps(norm)} steps between -norm and norm, since each has at most 6 decimals"
        remedy = f"write norm = {decimal(-(-norm // 1000) * 1000)}"
        yield Problem("norm", toml(given["norm"]), problem, remedy)


def _coordinates(values: Values, given: Values) -> Iterator[Problem]:
    if values["kind"] != "vector":
        return
    names, shown = values["coordinates"], toml(given["coordinates"])
    if len(names) != values["dimension"]:
        problem = f"has {len(names)} names for dimension = {values['dimension']}"
        yield Problem("coordinates", shown, problem, "name each coordinate once, or leave coordinates out")
    elif len(set(names)) < len(names):
        yield Problem("coordinates", shown, "names two coordinates alike", "name each coordinate once")


def _strategy(values: Values, given: Values) -> Iterator[Problem]:
    kind, strategy = values["kind"], values["strategy"]
    fit, name = mechanisms_for(kind, strategy), values.get("mechanism")
    if fit:
        if name in mechanisms_for(kind) and name not in fit:
            problem = f'draws each report anew and has no permanent answers, which strategy = "{strategy}" wants'
            remedy = f'write strategy = "fresh", or leave mechanism out, or use {" or ".join(fit)}'
            yield Problem("mechanism", toml(name), problem, remedy)
        return
    problem = f"is not there for the kind {kind} in this release: each report is drawn anew and losses add up"
    yield Problem("strategy", toml(given.get("strategy", strategy)), problem, 'write strategy = "fresh"')


def _fresh(values: Values, given: Values) -> Iterator[Problem]:
    if values["strategy"] != "fresh":
        return
    for key in ("permanent_epsilon", "bucket", "changes_visible"):
        if key in given:
            remedy = f'remove {key}, or write strategy = "memo"'
            yield Problem(
                key, toml(given[key]), 'means nothing where strategy = "fresh": no answer is permanent', remedy
            )


def _shuffler(values: Values, given: Values) -> Iterator[Problem]:
    if values["strategy"] != "fresh":
        problem = "cannot stand beside permanent answers: mixed or not, they come again and can be told by that"
        yield Problem("shuffler", toml(given["shuffler"]), problem, 'write strategy = "fresh", or remove shuffler')


def _losses(values: Values, given: Values) -> Iterator[Problem]:
    if values["strategy"] != "memo":
        return
    epsilon = values["epsilon"]
    reports = 2 if values.get("active") else 1
    usual = reports * default_permanent(epsilon / reports)
    permanent = values.get("permanent_epsilon", usual)
    shown = toml(given["permanent_epsilon"]) if "permanent_epsilon" in given else ""
    better = f"leave it out for {usual:g}" if 2 * epsilon <= MAX_EPSILON else "write a smaller epsilon"
    if permanent < epsilon:
        yield Problem("permanent_epsilon", shown, f"is less than epsilon = {toml(given['epsilon'])}", better)
    elif permanent == epsilon and not values["changes_visible"]:
        problem = "is epsilon itself, so nothing would hide a change and a device's life would have no bound"
        yield Problem("permanent_epsilon", shown, problem, f"{better}, or write changes_visible = true")


def _life(values: Values, given: Values) -> Iterator[Problem]:
    starts, expires = values["starts"], values["expires"]
    latest = starts + datetime.timedelta(seconds=MAX_LIFE)
    if expires <= starts:
        yield Problem("expires", toml(expires), f"is not after starts = {starts}", f"write a date up to {latest}")
    elif expires > latest:
        problem = f"is {(expires - starts).days} days after starts = {starts}, more than {MAX_LIFE // 86_400}"
        yield Problem(
            "expires", toml(expires), problem, f"write expires = {latest} or earlier; `hubbub registry renew` prolongs"
        )
    elif not windows(values["window"]).inside(midnight(starts.isoformat()), midnight(expires.isoformat())):
        problem = f"leaves no whole {values['window']} (Monday to Sunday) after starts = {starts}"
        yield Problem("expires", toml(expires), problem, f"write a later date, up to {latest}")


def _grace(values: Values, given: Values) -> Iterator[Problem]:
    if not MIN_GRACE <= duration(values["grace"]) <= MAX_GRACE:
        problem = f"is not between {MIN_GRACE // 3600} h and {MAX_GRACE // 86_400} d"
        yield Problem("grace", toml(given["grace"]), problem, KEYS["grace"].remedy)


def _dimensions(values: Values, given: Values) -> Iterator[Problem]:
    cells = 1
    for name, labels in values["dimensions"].items():
        cells *= len(labels)
        twice = {label for label in labels if labels.count(label) > 1}
        if not labels or twice:
            problem = f"has the value {toml(min(twice))} twice" if twice else "has no values"
            yield Problem(f"dimensions.{name}", toml(labels), problem, "list each value once, at least one")
    if cells > MAX_CELLS:
        problem = f"makes {cells} cells, more than {MAX_CELLS}"
        remedy = "list fewer values: k cells widen each interval by the root of k"
        yield Problem("dimensions", toml(given["dimensions"]), problem, remedy)


def _presence(values: Values, given: Values) -> Iterator[Problem]:
    if values["presence"] == "hidden" and values["dimensions"]:
        problem = 'cannot stand beside presence = "hidden": windows filled in later would carry the values of that time'
        yield Problem("dimensions", toml(given["dimensions"]), problem, 'remove dimensions, or write presence = "ran"')


def dimensions_in_detail(tree: object) -> Iterator[Problem]:
    """Which name or value of a `dimensions` that was refused is to blame, where that can be told."""
    if not isinstance(tree, Mapping):
        return
    for name, labels in tree.items():
        if not DIMENSION.fullmatch(name):
            form = foreign(name) or "a-z, then a-z, 0-9 and _, at most 32 characters"
            problem = f"is no name of a dimension: {form}"
            yield Problem(f"dimensions.{toml_key(name)}", "", problem, "rename it")
        if not isinstance(labels, list):
            yield Problem(
                f"dimensions.{toml_key(name)}",
                toml(labels),
                "is not a list of values in quotes",
                KEYS["dimensions"].remedy,
            )
            continue
        for label in labels:
            if not isinstance(label, str) or not LABEL.fullmatch(label):
                form = foreign(label) or "A-Z, a-z, 0-9, then also . _ + -, at most 64 characters, in quotes"
                problem = f"is no value of a dimension: {form}"
                yield Problem(f"dimensions.{toml_key(name)}", toml(label), problem, "rename it")


def _target(values: Values, given: Values) -> Iterator[Problem]:
    half = MILLION // 2
    if values["kind"] == "mean":
        half = (millionths(values.get("upper", 0)) - millionths(values.get("lower", 0))) // 2
    if values["kind"] == "vector":
        half = millionths(values.get("norm", 0))
    if 0 < half < millionths(values["target_margin"]):
        problem = f"is more than {decimal(half)}, half the range: any number would do"
        yield Problem("target_margin", toml(given["target_margin"]), problem, KEYS["target_margin"].remedy)


_CHECKS: tuple[tuple[tuple[str, ...], Check], ...] = (
    (("kind",), _kind),
    (("kind", "lower", "upper", "step"), _grid),
    (("kind", "lower", "upper", "buckets"), _buckets),
    (("kind", "categories"), _categories),
    (("kind", "norm"), _norm),
    (("kind", "dimension", "coordinates"), _coordinates),
    (("kind", "strategy"), _strategy),
    (("kind", "aggregate", "step"), _aggregate),
    (("kind", "active", "lower", "upper", "step", "epsilon"), _active),
    (("strategy",), _fresh),
    (("strategy", "shuffler"), _shuffler),
    (("strategy", "epsilon", "changes_visible"), _losses),
    (("starts", "expires", "window"), _life),
    (("grace",), _grace),
    (("dimensions",), _dimensions),
    (("presence", "dimensions"), _presence),
    (("kind", "target_margin"), _target),
)


def check(values: Values, given: Values) -> Iterator[Problem]:
    """All that is wrong between the keys of one metric.

    Args:
        values: What is right by itself, converted, with defaults.
        given: What stands in the file, as it was read; None for keys that were meant by a misspelt one.
    """
    for keys, finds in _CHECKS:
        if all(key in values for key in keys):
            yield from finds(values, given)
