"""How much one installation may give away: limits that the app chooses and the device keeps, whatever a lock says.

The lock alone is held against them before anything is opened (`enforce`); what this installation gave away before is
held against them by its ledger. All limits are in nats and sums over metrics. Specification: spec/ledger.md.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from hubbub.client.charges import DAY, Charge, change, per_day, whole
from hubbub.errors import HubbubError, ParameterError
from hubbub.lock import Lock, Metric, shown
from hubbub.windows import midnight

UNLIMITED = "unlimited"


def _limit(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


class PolicyError(HubbubError):
    """A lock asks for more than the policy allows, or the policy lacks a limit; nothing was opened or sent.

    Args:
        policy: Name of the policy.
        problems: Each names metric or sum, limit, value and what to change.
    """

    def __init__(self, policy: str, problems: Sequence[str]) -> None:
        super().__init__(f"policy {policy}: " + "; ".join(problems))
        self.policy = policy
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Policy:
    """Limits on what one installation gives away; sums over metrics, in nats.

    Args:
        name: What messages call it.
        per_day: Report prices of all reports about one day.
        steady: Steady prices of everything that was ever accepted.
        change: Change prices of the metrics that are measured at the same time.
        life_per_year: Life prices of the windows that begin in one calendar year (UTC); None: the app has to say.
        life_for_ever: Life prices of everything that was ever accepted.
        smallest_window: Seconds.
        probation_seconds: A new secret first reports for a window that begins this much after its birth.
        dimensions: Names of the public dimensions that may be sent; None: all that the lock declares.
    """

    name: str
    per_day: float = math.inf
    steady: float = math.inf
    change: float = math.inf
    life_per_year: float | None = math.inf
    smallest_window: int = 3600
    probation_seconds: int = 0
    dimensions: frozenset[str] | None = None
    life_for_ever: float = math.inf

    def __post_init__(self) -> None:
        for name in ("per_day", "steady", "change", "life_per_year", "life_for_ever"):
            value = getattr(self, name)
            if not (name == "life_per_year" and value is None) and not _limit(value):
                raise ParameterError(name, value, "a number of nats above 0")
        for name in ("smallest_window", "probation_seconds"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ParameterError(name, value, "whole seconds")

    @property
    def life(self) -> float:
        """The limit on life prices of a year; nothing where the app has not said it."""
        return 0.0 if self.life_per_year is None else self.life_per_year


STRICT = Policy("strict", 1.0, 15.0, 1.5, 15.0, DAY, 7 * DAY)
STANDARD = Policy("standard", 4.0, 20.0, 6.0, None)
RESEARCH = Policy("research")
PRESETS = {policy.name: policy for policy in (STRICT, STANDARD, RESEARCH)}


def resolve(policy: str | Policy, life: float | str | None = None) -> Policy:
    """The policy to keep, with the app's own limit on life prices.

    Args:
        policy: "strict", "standard", "research" or limits of the app's own.
        life: Nats a year or "unlimited"; may only lower a limit that the policy has.

    Raises:
        ParameterError: No such policy, or no such limit.
        PolicyError: The policy leaves the limit to the app and none is given, or it is above the policy's.
    """
    if isinstance(policy, str):
        if policy not in PRESETS:
            raise ParameterError("policy", policy, "one of " + ", ".join(PRESETS) + ", or a Policy")
        policy = PRESETS[policy]
    if life is None:
        if policy.life_per_year is None:
            problem = "it leaves the limit on life prices to the app; write life= with a number of nats a year"
            raise PolicyError(policy.name, [f'{problem} (`registry show` prints what the lock takes) or "{UNLIMITED}"'])
        return policy
    limit = math.inf if life == UNLIMITED else life
    if isinstance(limit, str) or not _limit(limit):
        raise ParameterError("life", life, f'a number of nats above 0, or "{UNLIMITED}"')
    if policy.life_per_year is not None and limit > policy.life_per_year:
        problem = f"life={life!r} is more than its {policy.life_per_year:g} nats a year; leave it out or lower it"
        raise PolicyError(policy.name, [problem])
    return replace(policy, life_per_year=float(limit))


def enforce(lock: Lock, policy: Policy) -> None:
    """Hold a lock against a policy, as if this installation had given away nothing yet.

    Raises:
        PolicyError: Naming everything that the lock asks for and the policy does not allow.
    """
    if problems := _problems(tuple(lock.metrics.values()), policy):
        raise PolicyError(policy.name, problems)


@lru_cache(maxsize=64)  # a process may hold many clients of one lock
def _problems(metrics: Sequence[Metric], policy: Policy) -> Sequence[str]:
    asked = [_Asked(metric) for metric in metrics]
    problems = [problem for one in asked for problem in _alone(one.metric, policy)]
    return (*problems, *filter(None, _sums(asked, policy)))


@dataclass(frozen=True)
class _Asked:
    """A metric of the lock over its whole life."""

    metric: Metric

    @cached_property
    def charge(self) -> Charge:
        return whole(self.metric)

    @property
    def name(self) -> str:
        return self.metric.name

    @property
    def steady(self) -> float:
        return self.charge.prices.steady

    @property
    def life(self) -> float:
        return self.charge.prices.life


def _alone(metric: Metric, policy: Policy) -> Iterator[str]:
    if metric.windows.length < policy.smallest_window:
        yield (
            f"{metric.name}: its windows of {metric.windows.length} s are smaller than {policy.smallest_window} s; "
            'write a longer one, such as window = "day"'
        )
    if policy.dimensions is not None:
        for name in sorted({name for name, _ in metric.dimensions} - policy.dimensions):
            yield f"{metric.name}: dimension {name} is not one that may be sent; take it out or allow it by name"


def _sums(asked: Sequence[_Asked], policy: Policy) -> Iterator[str]:
    weaker = "lower epsilon, raise report_every or drop a metric"
    for start in sorted({midnight(one.metric.starts) for one in asked}):
        found = (one for one in asked if midnight(one.metric.starts) <= start < midnight(one.metric.expires))
        alive = {one.name: one.charge for one in found}
        over = (
            _over("reports about one day", per_day(alive), policy.per_day, weaker),
            _over("one changed window", change(alive), policy.change, weaker),
        )
        if any(over):
            yield from over
            break  # one moment is enough to say it
    yield _over("values that never change", {one.name: one.steady for one in asked}, policy.steady, weaker)
    years: dict[int, dict[str, float]] = defaultdict(dict)
    for one in asked:
        for year, life in one.charge.life_by_year.items():
            years[year][one.name] = life
    for year, lives in sorted(years.items()):
        larger = _larger(policy, math.fsum(lives.values()))
        yield _over(f"any two histories of {year}", lives, policy.life, f"{weaker}{larger}")
    yield _over("any two histories", {one.name: one.life for one in asked}, policy.life_for_ever, weaker)


def _larger(policy: Policy, total: float) -> str:
    """The remedy of a larger limit on a year's life prices, where the app wrote the one there is and may raise it."""
    preset = PRESETS.get(policy.name)
    if preset is None:
        return ", or raise the limit on life prices"
    most = math.inf if preset.life_per_year is None else preset.life_per_year
    return ", or write a larger life=" if total <= most else ""


def _over(what: str, prices: Mapping[str, float], limit: float, remedy: str) -> str:
    """What to say where the sum of the prices, by metric, is more than the limit; nothing where it is not."""
    total = math.fsum(prices.values())
    if total <= limit:
        return ""
    largest = max(prices, key=lambda name: prices[name])
    if math.isinf(total):
        return f"{what}: what is asked for has no bound, and {limit:g} nats are allowed (most by {largest}); {remedy}"
    most = f"most by {largest}: {nats(prices[largest])}"
    return f"{what}: {nats(total)} nats are more than the {limit:g} allowed ({most}); {remedy}"


def nats(price: float) -> str:
    """A price as messages and tables show it: rounded up to six decimals."""
    figure = shown(price)
    return "no bound" if figure is None else f"{figure:.6f}".rstrip("0").rstrip(".")
