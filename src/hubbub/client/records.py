"""The ledger as JSON, for both places that keep it. Reading is strict: what does not fit was damaged.

Only plain types stand in the result of `ledger_tree` and of `account_tree`, so that `--json` shows them as they are.
"""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from hubbub.client.charges import Charge
from hubbub.client.ledger import Account, Ledger
from hubbub.client.policy import UNLIMITED, Policy
from hubbub.encoders.base import Prices
from hubbub.windows import NAMES

T = TypeVar("T")
_LIMITS = ("per_day", "steady", "change", "life_per_year", "life_for_ever")


class DamagedError(ValueError):
    """A record is not one that this program wrote. The message does not repeat it."""


def ledger_tree(ledger: Ledger) -> dict[str, Any]:
    """A ledger in plain types."""
    return {
        "collection": ledger.collection,
        "under": ledger.under,
        "secrets": dict(ledger.secrets),
        "policy": None if ledger.policy is None else _policy_tree(ledger.policy),
        "accounts": {name: account_tree(account) for name, account in ledger.accounts.items()},
    }


def ledger_of(tree: object) -> Ledger:
    """The ledger behind `ledger_tree`.

    Raises:
        DamagedError: It is not one.
    """
    top = _table(tree, {"collection", "under", "secrets", "policy", "accounts"})
    secrets = {_is(str, under): _is(int, birth) for under, birth in _is(dict, top["secrets"]).items()}
    if _is(str, top["under"]) not in secrets:
        raise DamagedError
    return Ledger(
        _is(str, top["collection"]),
        top["under"],
        secrets,
        {_is(str, name): account_of(account) for name, account in _is(dict, top["accounts"]).items()},
        None if top["policy"] is None else _policy_of(top["policy"]),
    )


def account_tree(account: Account) -> dict[str, Any]:
    """An account in plain types."""
    return {
        "sealed": account.sealed,
        "sent": account.sent,
        "active": account.active,
        "refused": account.refused,
        "charges": [_charge_tree(one) for one in account.charges],
    }


def account_of(tree: object) -> Account:
    """The account behind `account_tree`.

    Raises:
        DamagedError: It is not one.
    """
    top = _table(tree, {"sealed", "sent", "active", "refused", "charges"})
    charges = tuple(_charge_of(one) for one in _is(list, top["charges"]))
    active = _is(bool, top["active"])
    if active and not charges:
        raise DamagedError
    return Account(_is(int, top["sealed"]), _is(int, top["sent"]), active, _is(str, top["refused"]), charges)


def _charge_tree(charge: Charge) -> dict[str, Any]:
    tree = {name: getattr(charge, name) for name in Charge.__slots__ if name != "group" or charge.group}
    return tree | {"integers": list(charge.integers), "stated": [_json(price) for price in charge.stated]}


def _charge_of(tree: object) -> Charge:
    top = _table({"group": ""} | _is(dict, tree), set(Charge.__slots__))  # earlier releases knew of no groups
    for name in ("version", "report_every", "begins", "ends", "expires"):
        _is(int, top[name])
    for name in ("hash", "under", "encoder", "window", "group"):
        _is(str, top[name])
    if top["window"] not in NAMES or top["report_every"] < 1:
        raise DamagedError
    stated = [_number(price) for price in _is(list, top["stated"])]
    if len(stated) != len(Prices._fields):
        raise DamagedError
    integers = tuple(_is(int, integer) for integer in _is(list, top["integers"]))
    return Charge(**{**top, "integers": integers, "stated": Prices(*stated)})


def _policy_tree(policy: Policy) -> dict[str, Any]:
    limits = {name: _json(getattr(policy, name)) for name in _LIMITS}
    if limits["life_for_ever"] == UNLIMITED:  # earlier releases knew of no such limit
        del limits["life_for_ever"]
    rest = {name: getattr(policy, name) for name in ("name", "smallest_window", "probation_seconds")}
    return rest | limits | {"dimensions": None if policy.dimensions is None else sorted(policy.dimensions)}


def _policy_of(tree: object) -> Policy:
    known = {*_LIMITS, "name", "smallest_window", "probation_seconds", "dimensions"}
    top = _table({"life_for_ever": UNLIMITED} | _is(dict, tree), known)
    limits = {name: None if top[name] is None else _number(top[name]) for name in _LIMITS}
    names = top["dimensions"]
    try:
        return Policy(
            name=_is(str, top["name"]),
            smallest_window=top["smallest_window"],
            probation_seconds=top["probation_seconds"],
            dimensions=None if names is None else frozenset(_is(str, name) for name in _is(list, names)),
            **limits,  # type: ignore[arg-type]  # checked by Policy
        )
    except (ValueError, TypeError):
        raise DamagedError from None


def _json(number: float | None) -> float | str | None:
    return UNLIMITED if number is not None and math.isinf(number) else number


def _number(value: object) -> float:
    if value == UNLIMITED:
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise DamagedError
    return value


def _is(kind: type[T], value: object) -> T:
    if type(value) is not kind:  # a bool is no integer here
        raise DamagedError
    return value


def _table(tree: object, keys: set[str]) -> Mapping[str, Any]:
    if not isinstance(tree, dict) or tree.keys() != keys:
        raise DamagedError
    return tree
