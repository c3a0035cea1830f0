"""What one report costs a device in pure Python: permanent answer, fresh noise, report id, hex.

Target: less than 50 microseconds for each encoder, permanent or fresh, and of unary ones, which send a bit for each
category, for up to 20 of them; beyond that what each category costs is printed and held to nothing. A figure is the
best of several rounds, since a busy machine only ever adds to it. Beside the first ones stands the part that draws
randomness: HMAC-SHA-256 and the system's generator.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence

from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.mechanisms import registry
from hubbub.prf import device_prf, os_words, report_id
from hubbub.wire import pack

TARGET = 50.0  # microseconds
WIDE = (SCALE - 2 * 511_972_660) // 48 // 2 * 2

ENCODERS: dict[str, Encoder] = {
    "randomized_response": RandomizedResponse(511_972_653, 844_441_824, 1),
    "randomized_response_fresh": RandomizedResponse(1_155_094_611, 0, 0),
    "one_bit_mean": OneBitMean(480, 480, 511_972_653, 3_271_021_990, 844_441_824, 1),
    "one_bit_mean_48_buckets": OneBitMean(480, 10, (SCALE - 48 * WIDE) // 2, WIDE, 844_441_824, 1),
    "one_bit_mean_fresh": OneBitMean(480, 480, 1_155_094_611, SCALE - 2 * 1_155_094_611, 0, 0),
}


CHOICES = (("grr", 128), ("olh_pool", 128), ("hadamard_response", 128), ("oue", 20), ("sue", 20))
WIDE_CHOICES = (("oue", 128), ("subset_selection", 128))


def choice(name: str, categories: int, *, memo: bool) -> Encoder:
    """The device's half of a choice at epsilon 1, permanent epsilon 2."""
    mechanism = registry[name].from_epsilon(1.0, permanent_epsilon=2.0 if memo else None, categories=categories)
    return mechanism.encoder


def choices(pairs: Sequence[tuple[str, int]]) -> dict[str, Encoder]:
    """Each of them fresh, and with permanent answers where the mechanism keeps them."""
    return {
        f"{name}_{k}{'' if memo else '_fresh'}": choice(name, k, memo=memo)
        for name, k in pairs
        for memo in (True, False)
        if registry[name].memo or not memo
    }


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
            print(f"{name:<28}{whole:8.1f} µs a report, of which {words:5.1f} µs draw words")
    for name, encoder in choices(CHOICES).items():
        figures[name] = round(microseconds(encoding(encoder), calls // 4, rounds), 2)
        if not options.json:
            print(f"{name:<28}{figures[name]:8.1f} µs a report")
    wide = {name: microseconds(encoding(e), calls // 20, rounds) / e.size for name, e in choices(WIDE_CHOICES).items()}
    if not options.json:
        for name, cost in wide.items():
            print(f"{name:<28}{cost:8.2f} µs a category")
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
