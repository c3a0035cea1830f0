"""One mechanism of hubbub, measured in a process of its own: `python -m benchmarks.support.own JOB`, see `main`.

People are encoded and counted as `hubbub.mechanisms.base.collect` does it, block by block, with the clock between the
two, which shows processor time. Beside that: as many words alone, as fast as they come; what `simulate` takes for the
same crowd; and one device after another, in pure Python.
"""

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.mechanisms import Mechanism, SystemWords, registry
from hubbub.mechanisms.base import WordSource, at_once, keep_memory
from hubbub.mechanisms.estimate import Ints, Reals
from hubbub.mechanisms.sketch import Sketch
from hubbub.prf import device_prf, os_words
from hubbub.summary import Summary
from hubbub.testing import GeneratorWords

SEED = 20_261_205
CALL = 1 << 16  # words drawn at a time: they stay in the processor's cache
ROUNDS = 5  # passes over all people, at most


@dataclass
class Pass:
    """One pass over the people, or over as many of them as there was time for."""

    people: int
    client: float
    server: float
    summary: Summary


def blocks_of(mechanism: Mechanism, values: Ints) -> list[Ints]:
    """The people that `collect` takes at a time."""
    size = at_once(mechanism.encoder)
    return [values[start : start + size] for start in range(0, len(values), size)]


def once(mechanism: Mechanism, values: Ints, source: WordSource, seconds: float) -> Pass:
    """Encode and count block by block, until the time is over."""
    keep_memory()
    nobody = mechanism.summarise(mechanism.randomise(values[:0], source))
    found = Pass(0, 0.0, 0.0, nobody)
    for block in blocks_of(mechanism, values):
        start = time.process_time()
        reports = mechanism.randomise(block, source)
        between = time.process_time()
        found.summary += mechanism.summarise(reports)
        found.server += time.process_time() - between
        found.client += between - start
        found.people += len(block)
        if found.client > seconds:
            break
    return found


def drawing(source: WordSource, words: float, seconds: float) -> float:
    """People per second whose words are drawn, and nothing else."""
    calls, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        source.words(CALL)
        calls += 1
    return calls * CALL / words / (time.process_time() - start)


def median(act: Callable[[], object], seconds: float) -> float:
    """Seconds that it takes, the median of a few times."""
    took: list[float] = []
    while len(took) < ROUNDS and sum(took) < seconds:
        start = time.process_time()
        act()
        took.append(time.process_time() - start)
    return statistics.median(took)


def devices(mechanism: Mechanism, values: Ints, seconds: float) -> float:
    """Reports per second of one device after another, with words of the system."""
    encoder, prf = mechanism.encoder, device_prf(bytes(32), "bench", "bench.metric", "00" * 32)
    done, start = 0, time.process_time()
    for value in values.tolist():
        encoder.report(encoder.permanent(value, prf), os_words)
        done += 1
        if time.process_time() - start > seconds:
            break
    return done / (time.process_time() - start)


class Categories:
    """A crowd whose values are categories, all of which are estimated."""

    def __init__(self, mechanism: Any, held: Ints, k: int) -> None:
        self.mechanism, self.values, self.crowd = mechanism, held, np.bincount(held, minlength=k)
        truth = self.crowd / len(held)
        self.exact = float(np.mean(mechanism.variance(truth, 1) - truth * (1 - truth)))

    def shares(self, summary: Summary) -> Reals:
        """(k,) estimates."""
        found: Reals = self.mechanism.estimate(summary).value
        return found

    def simulate(self, rng: np.random.Generator) -> Summary:
        """A summary of the crowd."""
        found: Summary = self.mechanism.simulate(self.crowd, rng)
        return found


class Texts(Categories):
    """A crowd whose values are words, which are asked for by name.

    A sketch is asked for each of them, as the other libraries' are; RAPPOR tells only by a regression, as theirs does.
    """

    def __init__(self, mechanism: Any, held: Ints, k: int) -> None:
        self.mechanism, self.crowd = mechanism, np.bincount(held, minlength=k)
        self.words = [str(value) for value in range(k)]
        self.known = mechanism.index(self.words)
        self.values = self.known[held]
        self.sketch, self.exact = isinstance(mechanism, Sketch), float("nan")
        if self.sketch:
            pairs = self.crowd * (self.crowd - 1)
            self.exact = float(np.mean(mechanism.word_variance(self.crowd, len(held), pairs.sum() - pairs))) / len(held)

    def shares(self, summary: Summary) -> Reals:
        """(k,) estimates of the words."""
        return self.mechanism.word_shares(summary, self.words)[0] if self.sketch else self.decoded(summary)

    def decoded(self, summary: Summary) -> Reals:
        """(k,) estimates of the words that are found; the others count as 0."""
        table = self.mechanism.decode(summary, self.words, least=0)
        found = dict(zip(table.words, table.share.tolist(), strict=True))
        return np.array([found.get(word, 0.0) for word in self.words])

    def simulate(self, rng: np.random.Generator) -> Summary:
        """A summary of the crowd."""
        found: Summary = self.mechanism.simulate(self.crowd, rng, values=self.known)
        return found


def main(
    mechanism: str, domain: dict[str, Any], k: int, values: str, epsilon: float, seconds: float
) -> dict[str, float]:
    """What the module says, in people per second; memory in megabytes, errors times the number of people."""
    built, held = registry[mechanism].from_epsilon(epsilon, **domain), np.load(values)
    n, case = len(held), (Categories if "categories" in domain else Texts)(built, held, k)
    source = GeneratorWords(np.random.default_rng(SEED))
    built.randomise(blocks_of(built, case.values)[0], SystemWords())  # compiles what it needs, which is not counted
    first = once(built, case.values, source, float("inf"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    words = source.used / n
    passes = [first]
    while len(passes) < ROUNDS and sum(one.client + one.server for one in passes) < seconds:
        passes.append(once(built, case.values, source, float("inf")))
    shares = case.shares(first.summary)  # imports what it needs, which is not counted
    asked = median(lambda: case.shares(first.summary), seconds / 4)
    server, decoding = statistics.median(one.server for one in passes), float("nan")
    if isinstance(case, Texts):
        case.decoded(first.summary)
        decoding = median(lambda: case.decoded(first.summary), seconds / 4)
    systems: list[Pass] = []
    while len(systems) < ROUNDS and sum(one.client for one in systems) < seconds:
        systems.append(once(built, case.values, SystemWords(), seconds))
    rng = np.random.default_rng(SEED)
    return {
        "client": n / statistics.median(one.client for one in passes),
        "server": n / (server + asked),
        "decode": n / (server + decoding),
        "words": drawing(source, words, seconds / 4),
        "words_each": words,
        "system": statistics.median(one.people / one.client for one in systems),
        "system_words": drawing(SystemWords(), words, seconds / 4),
        "simulate": n / median(lambda: case.simulate(rng), seconds),
        "device": devices(built, case.values, seconds / 4),
        "peak": peak,
        "mse": n * float(np.mean((shares - case.crowd / n) ** 2)),
        "exact": case.exact,
    }


if __name__ == "__main__":
    print(json.dumps(main(**json.loads(sys.argv[1]))))
