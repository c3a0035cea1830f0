"""What one report costs a device in pure Python: permanent answer, fresh noise, report id, hex.

Target: less than 50 microseconds for each encoder of one bit, and for each that a choice gets that names none, for
several losses and up to 1024 categories, permanent or fresh. What sends a bit for each category is held to it up to 96
of them; at 1024, where it must be named to be had, what each category costs is printed and held to nothing. A figure is
the best of several rounds, since a busy machine only ever adds to it. Beside the first ones stands the part that draws
randomness: HMAC-SHA-256 and the system's generator.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from itertools import product

from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.mechanisms import registry
from hubbub.mechanisms.choosing import choose
from hubbub.prf import device_prf, os_words, report_id
from hubbub.wire import pack

TARGET = 50.0  # microseconds
STEP = (SCALE - 2 * 511_972_660) // 48 // 2 * 2

ENCODERS: dict[str, Encoder] = {
    "randomized_response": RandomizedResponse(511_972_653, 844_441_824, 1),
    "randomized_response_fresh": RandomizedResponse(1_155_094_611, 0, 0),
    "one_bit_mean": OneBitMean(480, 480, 511_972_653, 3_271_021_990, 844_441_824, 1),
    "one_bit_mean_48_buckets": OneBitMean(480, 10, (SCALE - 48 * STEP) // 2, STEP, 844_441_824, 1),
    "one_bit_mean_fresh": OneBitMean(480, 480, 1_155_094_611, SCALE - 2 * 1_155_094_611, 0, 0),
}


LOSSES, SIZES = (0.5, 1.0, 2.0, 4.0), (2, 5, 10, 20, 50, 96, 128, 300, 1024)
NAMED = (("grr", 128), ("olh_pool", 128), ("hadamard_response", 128), ("oue", 96), ("sue", 96), ("d_bit_flip", 96))
WIDE = (("oue", 1024), ("subset_selection", 1024))


def named(pairs: Sequence[tuple[str, int]]) -> dict[str, Encoder]:
    """Each at epsilon 1, fresh, and with permanent answers at 2 where the mechanism keeps them."""
    return {
        f"{name} k={k}{', permanent' if memo else ''}": registry[name]
        .from_epsilon(1.0, permanent_epsilon=2.0 if memo else None, categories=k)
        .encoder
        for name, k in pairs
        for memo in (False, True)
        if registry[name].memo or not memo
    }


def chosen() -> dict[str, Encoder]:
    """What a choice gets that names no mechanism."""
    found = {}
    for permanent, epsilon, k in product((False, True), LOSSES, SIZES):
        encoder = choose("choice", epsilon, permanent_epsilon=2 * epsilon if permanent else None, categories=k)
        name = f"{encoder.mechanism.name} k={k}, epsilon {epsilon:g}{', permanent' if permanent else ''}"
        found[name] = encoder.mechanism.encoder
    return found


def encoding(encoder: Encoder) -> Callable[[int], None]:
    """All that a device does for the report of a window, but storing and sending it."""
    prf = device_prf(bytes(range(32)), "editor-desktop", "editor.minutes", "ab" * 32)
    size, radices = encoder.size, encoder.radices

    def encode(window: int) -> None:
        pack(encoder.report(encoder.permanent(window % size, prf), os_words), radices)
        report_id(prf, window)

    return encode


def drawing(encoder: Encoder) -> Callable[[int], None]:
    """The randomness of `encoding` alone."""
    prf = device_prf(bytes(range(32)), "editor-desktop", "editor.minutes", "ab" * 32)
    memo = encoder.canonical()[-1]
    mean = isinstance(encoder, OneBitMean)

    def draw(window: int) -> None:
        if memo and mean:
            prf("alpha")(1)
        if memo:
            prf("memo", window & 1)(1)
        elif mean:
            os_words(1)
        os_words(1)
        prf("id", window)(2)

    return draw


def microseconds(act: Callable[[int], None], calls: int, rounds: int) -> float:
    """Time of one call, the best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for window in range(calls):
            act(window)
        best = min(best, time.perf_counter() - start)
    return best / calls * 1e6


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encode", description="Cost of one report on a device.")
    parser.add_argument("--quick", action="store_true", help="fewer calls")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    options = parser.parse_args(argv)
    calls, rounds = (2_000, 3) if options.quick else (20_000, 9)
    figures = {}
    for name, encoder in ENCODERS.items():
        whole = microseconds(encoding(encoder), calls, rounds)
        words = microseconds(drawing(encoder), calls, rounds)
        figures[name] = round(whole, 2)
        if not options.json:
            print(f"{name:<48}{whole:8.1f} µs a report, of which {words:5.1f} µs draw words")
    for name, encoder in {**named(NAMED), **chosen()}.items():
        figures[name] = round(microseconds(encoding(encoder), calls // 10, rounds), 2)
        if not options.json:
            print(f"{name:<48}{figures[name]:8.1f} µs a report")
    wide = {name: microseconds(encoding(e), calls // 100, rounds) / e.size for name, e in named(WIDE).items()}
    if not options.json:
        for name, cost in wide.items():
            print(f"{name:<48}{cost:8.2f} µs a category")
    worst = max(figures.values())
    result = {
        "benchmark": "encode",
        "target_us": TARGET,
        "report_us": figures,
        "us_a_category": {name: round(cost, 3) for name, cost in wide.items()},
        "worst_to_target": round(worst / TARGET, 3),
    }
    print(json.dumps({**result, "pass": worst < TARGET}))
    return 0 if worst < TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
