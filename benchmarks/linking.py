"""Whether two windows of steady devices can be told to be theirs by whoever holds the store of the collector.

Each of thousands of devices is a client with a secret of its own that holds one value through two windows and reports
it by all metrics of one lock, over HTTP, to `hubbub serve` (benchmarks.support.steady). The attacker reads the rows of
both windows out of the store, and nothing else, knows definitions and crowd, and finds for each report of the second
window the likeliest partner in the first. The share that is found, and the bits that two reports share, must stay
within what `public_bits` and `linkage_bits` allow, of every metric by itself. No id comes again, no bit of an id goes
with a bit of the partner's id, of the payload of either, or of the id that the device has in another metric that day.
Ids that tell more cunningly, such as hashes of one another, no such test sees (benchmarks.support.linking).

Secrets and noise are the system's, so no two runs are alike. A metric that is as declared is called `beyond` once in
30 000 where its bits are all that was declared, and told by its ids once in 9e7.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support import page
from benchmarks.support.linking import IN_ORDER, TOGETHER, Crowd, Linked, across, in_common, link
from benchmarks.support.steady import reported
from hubbub.definitions import build, loads
from hubbub.encoders.words import value_of
from hubbub.lock import Lock, Metric
from hubbub.mechanisms import registry

SEED = 20_261_208  # of values alone
DEVICES, FEW = 5_000, 500  # with --quick
EPSILON, PERMANENT = 1.0, 2.0
CROWD = 128  # values that devices have, but for those that are yes or no, or words
WORDS = [f"word {i}" for i in range(100)]


def _histogram(mechanism: str, buckets: int = CROWD) -> str:
    return f'kind = "histogram"\nmechanism = "{mechanism}"\nlower = 0\nupper = {buckets}\nbuckets = {buckets}'


SCHEMES: Mapping[str, str] = {  # what metrics.toml says of them
    "grr k=16": _histogram("grr", 16),
    f"grr k={CROWD}": _histogram("grr"),
    f"oue k={CROWD}": _histogram("oue"),
    f"sue k={CROWD}": _histogram("sue"),
    f"olh_pool k={CROWD}": _histogram("olh_pool"),
    f"d_bit_flip k={CROWD} d=16": _histogram("d_bit_flip"),
    "one_bit_mean": f'kind = "mean"\nmechanism = "one_bit_mean"\nlower = 0\nupper = {CROWD - 1}',
    "randomized_response": 'kind = "boolean"\nmechanism = "randomized_response"',
    "rappor": 'kind = "words"\nmechanism = "rappor"',
}
LONG: Mapping[str, str] = {"oue k=1024": _histogram("oue", 1024)}  # not in the quick form
ANEW = ("d_bit_flip", "rappor")  # fresh, they ask others each time: what they share is the value alone


def lock_of(schemes: Mapping[str, str]) -> tuple[Lock, dict[str, str]]:
    """A lock with each scheme, memoised and where it makes sense fresh; and what each of its metrics is called here.

    The lock is what `hubbub registry build` makes of metrics.toml, but for the d of d_bit_flip: no key there sets it.
    """
    names, parts = {}, ['schema = "hubbub.registry/1"\ncollection = "steady-devices"']
    for scheme, keys in schemes.items():
        for strategy in ("memo",) if scheme.startswith(ANEW) else ("memo", "fresh"):
            metric = re.sub(r"\W+", "_", f"{scheme} {strategy}")
            names[metric] = f"{scheme} {strategy}"
            parts.append(_definition(metric, strategy, keys))
    lock = build(loads("\n\n".join(parts).encode(), "metrics.toml"))
    return Lock(lock.collection, {name: _asking(metric, names[name]) for name, metric in lock.metrics.items()}), names


def _definition(name: str, strategy: str, keys: str) -> str:
    permanent = f"permanent_epsilon = {PERMANENT}\n" if strategy == "memo" else ""
    return f"""[metrics."{name}"]
version = 1
description = "What steady devices hold"
purpose = "Linking two windows of them"
owners = ["bench@example.org"]
window = "day"
starts = 2026-12-01
expires = 2027-11-30
epsilon = {EPSILON}
strategy = "{strategy}"
{permanent}{keys}"""


def _asking(metric: Metric, scheme: str) -> Metric:
    """The metric with the d that its scheme says."""
    found = re.search(r" d=(\d+)", scheme)
    if not found:
        return metric
    keys: dict[str, Any] = {"categories": metric.encoder.size, "d": int(found[1])}
    made = registry[metric.encoder.name].from_epsilon(EPSILON, permanent_epsilon=PERMANENT, **keys)
    return replace(metric, encoder=made.encoder)


def crowd_of(metric: Metric) -> Crowd:
    """Zipf's law: the i-th value has a share like 1 / i."""
    values: Sequence[int] = range(2 if metric.kind == "boolean" else metric.encoder.size)
    given: Sequence[object] = [False, True] if metric.kind == "boolean" else values
    if metric.kind == "words":
        values, given = [value_of(word) for word in WORDS], WORDS
    shares = 1 / np.arange(1, len(values) + 1)
    return Crowd(values, given, shares / shares.sum())


def measure(schemes: Mapping[str, str], devices: int, folder: Path, seed: int) -> dict[str, Linked]:
    """What an attacker gets of so many devices, by scheme.

    Args:
        schemes: Such as `SCHEMES`.
        devices: How many there are.
        folder: An empty one, for the time being.
        seed: Of the values that they hold; secrets and noise are the system's.
    """
    lock, names = lock_of(schemes)
    crowds = {name: crowd_of(metric) for name, metric in lock.metrics.items()}
    rng = np.random.default_rng(seed)
    held = {
        name: [crowd.given[i] for i in rng.choice(len(crowd.given), devices, p=crowd.shares)]
        for name, crowd in crowds.items()
    }
    seen = reported(lock, [{name: held[name][device] for name in held} for device in range(devices)], folder)
    common = [
        in_common({name: [row.id for row in (one.first, one.second)[window]] for name, one in seen.items()})
        for window in (0, 1)
    ]
    beside = across(seen)
    return {
        scheme: replace(
            link(scheme, lock.metrics[name].encoder, crowds[name], seen[name]),
            in_common=max(window[name] for window in common),
            across=beside[name],
        )
        for name, scheme in names.items()
    }


def table(found: Sequence[Linked]) -> str:
    head = (
        "scheme",
        "public bits",
        "linkage bits",
        "bits of two reports",
        "matched",
        "at most",
        "ids in order",
        "bits of ids",
    )
    rows = [
        (
            *(one.name, f"{one.public_bits:.2f}", f"{one.linkage_bits:.3f}", f"{one.bits:.3f} ± {one.noise:.3f}"),
            *(f"{100 * one.matched:.3f} %", f"{100 * one.most:.2f} %", f"{one.in_order}", f"{one.together:.1f}"),
        )
        for one in found
    ]
    return page.table(head, rows)


def report(about: str, found: Sequence[Linked]) -> str:
    devices, equal = found[0].devices, sum(one.equal for one in found)
    return "\n\n".join(
        [
            f"{about}. ε = {EPSILON:g}, permanent ε = {PERMANENT:g}, {devices} devices with values by Zipf's law. "
            f"Matched: the likeliest partner is the right one; chance finds {100 / devices:g} %. At most: the share s "
            "at which s log₂(s N) + (1 − s) log₂((1 − s) N / (N − 1)) is all declared bits. Ids in order: of how many "
            "devices the id has the same place in the order of both windows; by chance of one on average, of more than "
            f"{IN_ORDER} once in 6·10⁹. Bits of ids: by how many standard errors a bit of an id and one of its "
            f"partner's go together, the most of 4096 pairs; by chance more than {TOGETHER:g} once in 10¹⁰. Ids of the "
            f"second window that were there in the first: {equal}.",
            table(found),
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.linking", description="Two windows of steady devices.")
    parser.add_argument("--quick", action="store_true", help="fewer devices and schemes")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reference/benchmarks.md")
    parser.add_argument("--folder", type=Path, help="where lock and store are written for the time being")
    options = parser.parse_args(argv)
    about, start = page.machine(), time.monotonic()
    schemes = SCHEMES if options.quick else {**SCHEMES, **LONG}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found = list(measure(schemes, FEW if options.quick else DEVICES, Path(folder), SEED).values())
    if options.write:
        page.write("linking", report(about, found))
    if not options.json:
        print(report(about, found))
    beyond, told = [one.name for one in found if one.beyond], [one.name for one in found if one.told_by_ids]
    last = {
        "benchmark": "linking",
        "about": about,
        "devices": found[0].devices,
        "reports": 2 * sum(one.devices for one in found),
        "matched": {one.name: round(one.matched, 5) for one in found},
        "beyond": beyond,
        "with_payload": round(max(one.with_payload for one in found), 1),
        "in_common": max(one.in_common for one in found),
        "across": round(max(one.across for one in found), 1),
        "told_by_ids": told,
        "seconds": round(time.monotonic() - start),
        "pass": not beyond and not told,
    }
    print(json.dumps(last, ensure_ascii=False))
    return 0 if last["pass"] else 1


if __name__ == "__main__":
    sys.exit(main())
