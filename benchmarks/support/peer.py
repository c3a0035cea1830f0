"""One protocol of another library, measured: people per second at the client and the server, memory, error.

This file is run by that library's own interpreter, so it imports nothing of hubbub: `python peer.py JOB`, a JSON object
with the fields of `main`; what it prints is one too. The client is one call per person, as the libraries have it.
Reports stream through in chunks where the server takes them one by one (pure-ldp), and are one list where it wants all
of them (multi-freq-ldpy). Imports, constructors and compilation are not counted.

How each is called so that it is at its best:
    pure-ldp numbers its values from 1 and loses or misplaces 0, so they are mapped as they are here. The two halves of
    its fast local hashing have different defaults (g = 2 and 4), so both are told. Estimates are not normalised.
    multi-freq-ldpy clips and renormalises: its error is that of a biased estimate, and may be below the unbiased one's.
"""

import json
import math
import resource
import sys
import time
import warnings
from importlib import import_module
from typing import Any

import numpy as np

CHUNK = 20_000  # reports that are under way at a time
FIRST = 500  # people in a first run: it compiles, and tells how many can be measured in the time
MEMORY = 1 << 31  # bytes of reports in a list, at most
HASHES = 1_000  # of fast local hashing, as in its documentation
RAPPOR: dict[str, Any] = {"m": 128, "num_of_cohorts": 16}
BITS = 2  # of RAPPOR's filter for one value
SKETCH = (128, 1024)  # hash functions and width of the count mean sketches


def pure(name: str) -> Any:
    return import_module(f"pure_ldp.frequency_oracles.{name}")


def same(value: int) -> int:
    return value


def pair(protocol: str, k: int, epsilon: float) -> tuple[Any, Any]:
    """Client and server of pure-ldp."""
    if protocol in ("cms", "hcms"):
        cms, hadamard = pure("apple_cms"), protocol == "hcms"
        server = cms.CMSServer(epsilon, *SKETCH, is_hadamard=hadamard)
        return Texts(cms.CMSClient(epsilon, server.get_hash_funcs(), SKETCH[1], is_hadamard=hadamard)), server
    if protocol == "rappor":
        rappor = pure("rappor")
        f = 2 / (math.exp(epsilon / (2 * BITS)) + 1)  # its own conversion ignores the number of bits
        server = rappor.RAPPORServer(f, k=BITS, d=k, index_mapper=same, **RAPPOR)
        return rappor.RAPPORClient(f, hash_funcs=server.get_hash_funcs(), index_mapper=same, **RAPPOR), server
    if protocol == "hr":
        hadamard = pure("hadamard_response")
        server = hadamard.HadamardResponseServer(epsilon, k, index_mapper=same)
        return hadamard.HadamardResponseClient(epsilon, k, server.get_hash_funcs(), index_mapper=same), server
    classes: dict[str, tuple[str, str, dict[str, Any]]] = {
        "grr": ("direct_encoding", "DE", {}),
        "sue": ("unary_encoding", "UE", {"use_oue": False}),
        "oue": ("unary_encoding", "UE", {"use_oue": True}),
        "blh": ("local_hashing", "LH", {"g": 2}),
        "olh": ("local_hashing", "LH", {"use_olh": True}),
        "flh": ("local_hashing", "FastLH", {"k": HASHES, "use_olh": True}),
    }
    module, name, extra = classes[protocol]
    client, server = (getattr(pure(module), name + side) for side in ("Client", "Server"))
    return client(epsilon, k, index_mapper=same, **extra), server(epsilon, k, index_mapper=same, **extra)


class Texts:
    """A client of a sketch, which takes texts."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def privatise(self, value: int) -> Any:
        return self._client.privatise(str(value))


def streamed(
    protocol: str, values: list[int], k: int, epsilon: float, seconds: float
) -> tuple[int, float, float, float, Any]:
    """People measured, seconds of client, server and estimate, and the shares."""
    client, server = pair(protocol, k, epsilon)
    sent = took = 0.0
    done, chunk = 0, FIRST
    while done < len(values) and max(sent, took) < seconds:
        start = time.process_time()
        reports = [client.privatise(value) for value in values[done : done + chunk]]
        between = time.process_time()
        for report in reports:
            server.aggregate(report)
        sent, took = sent + between - start, took + time.process_time() - between
        done += len(reports)
        chunk = min(CHUNK, max(FIRST, int(done * seconds / max(sent, took) / 20)))
    start = time.process_time()
    shares = np.asarray(server.estimate_all(range(k), suppress_warnings=True)) / done
    return done, sent, took, time.process_time() - start, shares


def listed(
    protocol: str, values: list[int], k: int, epsilon: float, seconds: float
) -> tuple[int, float, float, float, Any]:
    """The same, where the server takes all reports at once and its estimate is part of that."""
    name, client, server = {
        "grr": ("GRR", (k, epsilon), (k, epsilon)),
        "sue": ("UE", (k, epsilon, False), (epsilon, False)),
        "oue": ("UE", (k, epsilon, True), (epsilon, True)),
        "blh": ("LH", (k, epsilon, False), (k, epsilon, False)),
        "olh": ("LH", (k, epsilon, True), (k, epsilon, True)),
        "ss": ("SS", (k, epsilon), (k, epsilon)),
    }[protocol]
    module = import_module(f"multi_freq_ldpy.pure_frequency_oracles.{name}")
    send, count = getattr(module, f"{name}_Client"), getattr(module, f"{name}_Aggregator_MI")

    def run(people: list[int]) -> tuple[float, float, Any]:
        start = time.process_time()
        reports = [send(value, *client) for value in people]
        between = time.process_time()
        shares = count(reports, *server)
        return between - start, time.process_time() - between, shares

    run(values[:2])
    pilot = max(run(values[:FIRST])[:2])
    bytes_each = 8 * k if name == "UE" else 1000 + 8 * k if name == "SS" else 200
    most = min(len(values), int(FIRST * seconds / pilot), MEMORY // bytes_each)
    sent, took, shares = run(values[:most])
    return most, sent, took, 0.0, shares


def main(library: str, protocol: str, values: str, k: int, epsilon: float, seconds: float) -> dict[str, float]:
    warnings.simplefilter("ignore")
    held = np.load(values)
    measure = streamed if library == "pure-ldp" else listed
    done, sent, took, asked, shares = measure(protocol, held.tolist(), k, epsilon, seconds)
    truth = np.bincount(held[:done], minlength=k) / done
    return {
        "people": done,
        "client": done / sent,
        "server": len(held) / (took * len(held) / done + asked),
        "mse": done * float(np.mean((shares - truth) ** 2)),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    print(json.dumps(main(**json.loads(sys.argv[1]))))
