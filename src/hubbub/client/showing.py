"""A ledger and a preview as people and programs read them. Nothing here holds the secret."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from hubbub.client.ledger import NEVER, Account, Ledger
from hubbub.client.policy import UNLIMITED, nats
from hubbub.client.reporter import Preview
from hubbub.lock import MILLION, NONE, Lock, Metric, shown
from hubbub.windows import iso
from hubbub.wire import pack

_ANOTHER = 1  # a value that is no word's, as good as certainly, and stands for any other word
_COLUMNS = ("metric", "versions", "in force", "sent", "sealed until", "report", "steady", "change", "life")


def ledger_plain(ledger: Ledger, lock: Lock | None = None) -> dict[str, Any]:
    """A ledger in plain types; with a lock, also the metrics of it that were never taken up."""
    return {
        "collection": ledger.collection,
        "birth": iso(ledger.birth),
        "generation": ledger.generation,
        "policy": None if ledger.policy is None else ledger.policy.name,
        "metrics": {name: _account_plain(account) for name, account in _accounts(ledger, lock).items()},
        "totals": [
            {"what": what, "charged": shown(charged), "allowed": allowed if math.isfinite(allowed) else UNLIMITED}
            for what, charged, allowed in _totals(ledger)
        ],
    }


def ledger_text(ledger: Ledger, lock: Lock | None = None) -> str:
    """A ledger as a table for people; prices in nats."""
    accounts = _accounts(ledger, lock)
    policy = "none yet" if ledger.policy is None else ledger.policy.name
    lines = [
        f"Collection {ledger.collection}; installed {iso(ledger.birth)}; secret number {ledger.generation};"
        f" policy {policy}.",
        "Prices in nats. They are charged when a definition is accepted and never forgotten.",
        "",
        *_table(_COLUMNS, [_row(name, account) for name, account in sorted(accounts.items())]),
        "",
        *_table(
            ("all metrics", "charged", "allowed"),
            [(what, nats(charged), _allowed(allowed)) for what, charged, allowed in _totals(ledger)],
        ),
    ]
    refused = [f"{name} is not answered: {why}." for name, why in sorted(_refused(accounts).items())]
    return "\n".join([*lines, *(["", *refused] if refused else [])])


def preview_plain(metric: Metric, preview: Preview) -> dict[str, Any]:
    """A preview in plain types."""
    return {
        "metric": metric.name,
        "value": preview.value,
        "meaning": _meaning(metric, preview.value),
        "permanent": _permanent(metric),
        "answer": list(preview.answer),
        "payload": pack(preview.payload, metric.encoder.radices),
        "chances": {
            str(value): float(_chance(metric, value, preview.payload)) for value in _compared(metric, preview.value)
        },
    }


def preview_text(metric: Metric, given: str, preview: Preview) -> str:
    """A preview in words."""
    size = metric.encoder.size
    answer = " ".join(map(str, preview.answer))
    kept = (
        f"permanent answer  {answer}: drawn once from this installation's secret, kept for ever in place of the value"
        if _permanent(metric)
        else "permanent answer  none: each report of this metric is drawn afresh from the value"
    )
    lines = [
        f"{metric.name} = {given}. Nothing is recorded or sent by looking.",
        "",
        f"value             {_meaning(metric, preview.value)} (number {preview.value} of 0 to {size - 1};"
        + (" a hash of its letters)" if metric.kind == "words" else " what lies outside is clipped)"),
        kept,
        f"bytes to send     {pack(preview.payload, metric.encoder.radices)}: one possible report,"
        " its noise is drawn again for each window",
        "",
        "How often these bytes are sent by a device whose value is",
        *(
            f"  {_meaning(metric, value):<16}{float(_chance(metric, value, preview.payload)):.1%}"
            for value in _compared(metric, preview.value)
        ),
    ]
    return "\n".join(lines)


def _accounts(ledger: Ledger, lock: Lock | None) -> Mapping[str, Account]:
    waiting = Account(refused="the program has not begun with this lock yet")
    return {**dict.fromkeys(lock.metrics if lock else (), waiting), **ledger.accounts}


def _refused(accounts: Mapping[str, Account]) -> Mapping[str, str]:
    return {name: account.refused for name, account in accounts.items() if account.refused}


def _account_plain(account: Account) -> dict[str, Any]:
    current = account.current
    return {
        "versions": list(account.versions),
        "in_force": None if current is None else current.version,
        "hash": None if current is None else current.hash,
        "sent": account.sent,
        "sealed_until": None if account.sealed == NEVER else iso(account.sealed),
        "prices": {key: shown(price) for key, price in account.charged._asdict().items()},
        "life_by_year": {str(year): shown(life) for year, life in account.life_by_year.items()},
        "refused": account.refused or None,
    }


def _row(name: str, account: Account) -> Sequence[str]:
    return (
        name,
        ", ".join(map(str, account.versions)) or "-",
        str(account.current.version) if account.current else "no",
        str(account.sent),
        "-" if account.sealed == NEVER else iso(account.sealed),
        *map(nats, account.charged),
    )


def _totals(ledger: Ledger) -> list[tuple[str, float, float]]:
    """What is summed over metrics, the sum, and the policy's limit."""
    policy, in_force = ledger.policy, [a.current for a in ledger.accounts.values() if a.current]
    none = math.inf
    totals = [
        ("reports about one day", sum(one.per_day for one in in_force), policy.per_day if policy else none),
        ("values that never change", ledger.steady, policy.steady if policy else none),
        ("one changed window", sum(one.prices.change for one in in_force), policy.change if policy else none),
    ]
    life = policy.life if policy else none
    return totals + [(f"any two histories of {year}", price, life) for year, price in ledger.life_by_year.items()]


def _allowed(limit: float) -> str:
    return UNLIMITED if math.isinf(limit) else f"{limit:g}"


def _meaning(metric: Metric, value: int) -> str:
    """An encoder's value in the words of the definition."""
    if metric.kind == "boolean":
        return "yes" if value else "no"
    if metric.kind == "words":
        return ("no word", "another word")[value] if value <= _ANOTHER else "this word"
    if metric.kind == "choice":
        return (NONE, *metric.labels)[value]
    if metric.kind == "histogram":
        low, high = (f"{(metric.lower + end * metric.step) / MILLION:g}" for end in (value, value + 1))
        return f"{low} to {high} {metric.unit}".rstrip()
    return f"{(metric.lower + value * metric.step) / MILLION:g} {metric.unit}".rstrip()


def _permanent(metric: Metric) -> bool:
    """Whether reports are drawn from an answer that stays: then a value that never changes costs the same for ever."""
    return metric.encoder.prices(1).steady == metric.encoder.prices(2).steady


def _compared(metric: Metric, value: int) -> list[int]:
    return sorted({0, value, _ANOTHER if metric.kind == "words" else metric.encoder.size - 1})


def _chance(metric: Metric, value: int, payload: tuple[int, ...]) -> Fraction:
    chance = getattr(metric.encoder, "chance", None)  # of encoders whose laws are too long to write down
    if chance is not None:
        return Fraction(chance(value, payload))
    return metric.encoder.law(value, payload[: metric.encoder.public]).get(payload, Fraction(0))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns that line up, the first ones to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows))
    return [line.rstrip() for line in lines]
