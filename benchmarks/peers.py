"""hubbub beside the public libraries of local differential privacy, on one machine in one run.

pure-ldp and multi-freq-ldpy, in an environment of their own (support/environment.py), encode and count the same people
as hubbub does, a Zipf crowd of 100 000 and of 1 000 000, with every frequency oracle that both have; a process for each
measurement. Rates are per second of processor time on one core, which a busy machine changes least. Where a library
would take hours, as many people as it manages in the time are measured, and the rates are theirs. n·MSE is the mean
squared error of a share times the people measured, all of them given: hubbub's stands with what it should be.

Target: ten times the faster of the two, client and server alike, or as near to it as drawing the words alone allows. A
client is shown with words of a seeded generator, for simulations, and of the operating system, as devices have them;
beside each, the rate at which so many such words alone can be drawn. `simulate` needs neither: it draws the summary.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support import environment, page
from hubbub.mechanisms import registry

EPSILON, ZIPF, SEED = 1.0, 1.1, 20_261_204
TARGET = 10.0
WORDS = 0.5  # share of a client's time from which on words are what limits it
PURE, MULTI = "pure-ldp", "multi-freq-ldpy"
SHOWN = ("numpy", "numba", "xxhash", "scipy", "scikit-learn", "statsmodels")

Figures = Mapping[str, float]


@dataclass(frozen=True)
class Protocol:
    """What is compared: a mechanism, and what the libraries call it."""

    mechanism: str
    peers: Mapping[str, str]
    domain: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return " ".join([self.mechanism, *(f"{key}={value}" for key, value in self.domain.items())])


PROTOCOLS = (
    Protocol("grr", {PURE: "grr", MULTI: "grr"}),
    Protocol("sue", {PURE: "sue", MULTI: "sue"}),
    Protocol("oue", {PURE: "oue", MULTI: "oue"}),
    Protocol("olh", {PURE: "blh", MULTI: "blh"}, {"g": 2}),
    Protocol("olh", {PURE: "olh", MULTI: "olh"}),
    Protocol("olh_pool", {PURE: "flh"}),
    Protocol("hadamard_response", {PURE: "hr"}),
    Protocol("subset_selection", {MULTI: "ss"}),
    Protocol("cms", {PURE: "cms"}, {"bits": 1024, "hashes": 128}),
    Protocol("hcms", {PURE: "hcms"}, {"bits": 1024, "hashes": 128}),
    Protocol("rappor", {PURE: "rappor"}, {"bits": 128, "hashes": 2, "cohorts": 16}),
)


@dataclass(frozen=True)
class Cell:
    """One protocol at one size: figures of hubbub and of each library."""

    protocol: Protocol
    k: int
    n: int
    own: Figures
    peers: Mapping[str, Figures]

    @property
    def name(self) -> str:
        return f"{self.protocol.name}, k={self.k}, n={self.n}"

    def best(self, side: str) -> float:
        """The faster library's rate at the client or the server."""
        return max(peer[side] for peer in self.peers.values())

    @property
    def ratios(self) -> dict[str, float]:
        """Rates of hubbub beside the faster library's, and those that words alone would allow."""
        client, server = self.best("client"), self.best("server")
        both = max(1 / (1 / peer["client"] + 1 / peer["server"]) for peer in self.peers.values())
        own = self.own
        return {
            "client": own["client"] / client,
            "words": own["words"] / client,
            "system": own["system"] / client,
            "system_words": own["system_words"] / client,
            "server": own["server"] / server,
            "simulate": own["simulate"] / both,
        }

    @property
    def missed(self) -> list[str]:
        """What is neither ten times as fast nor limited by its words."""
        ratios, own = self.ratios, self.own
        limited = {
            "client": own["client"] / own["words"] >= WORDS,
            "system": own["system"] / own["system_words"] >= WORDS,
        }
        return [
            side for side in ("client", "system", "server") if ratios[side] < TARGET and not limited.get(side, False)
        ]


def run(command: Sequence[str], job: Mapping[str, Any]) -> Figures:
    """What a process prints about this job."""
    one_core = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")}
    done = subprocess.run([*command, json.dumps(job)], stdout=subprocess.PIPE, check=True, env=one_core)
    found: Figures = json.loads(done.stdout)
    return found


def versions(python: Path) -> dict[str, str]:
    """Of the libraries, and of what makes them fast."""
    code = (
        "import json, sys\nfrom importlib.metadata import version\nprint(json.dumps(list(map(version, sys.argv[1:]))))"
    )
    names = (PURE, MULTI, *SHOWN)
    done = subprocess.run([str(python), "-c", code, *names], stdout=subprocess.PIPE, check=True)
    return dict(zip(names, json.loads(done.stdout), strict=True))


def people(folder: Path, k: int, n: int) -> str:
    """A file with the values of n people."""
    weights = np.arange(1, k + 1) ** -ZIPF
    path = folder / f"{k}-{n}.npy"
    np.save(path, np.random.default_rng(SEED).choice(k, n, p=weights / weights.sum()))
    return str(path)


def measure(protocol: Protocol, k: int, n: int, values: str, seconds: float, python: Path) -> Cell:
    job = {"values": values, "k": k, "epsilon": EPSILON, "seconds": seconds}
    domain = dict(protocol.domain) if "bits" in protocol.domain else {"categories": k, **protocol.domain}
    command = [sys.executable, "-m", "benchmarks.support.own"]
    own = run(command, {"mechanism": protocol.mechanism, "domain": domain, **job, "seconds": seconds / 2})
    script = str(Path(environment.__file__).with_name("peer.py"))
    peers = {
        library: run([str(python), script], {"library": library, "protocol": name, **job})
        for library, name in protocol.peers.items()
    }
    return Cell(protocol, k, n, own, peers)


def short(rate: float) -> str:
    """A rate with three digits: 1.23M, 45.6k, 789; nothing where there is none."""
    if rate != rate:
        return ""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if rate >= unit:
            return f"{rate / unit:.3g}{letter}" if rate < 1000 * unit else f"{rate / unit:.0f}{letter}"
    return f"{rate:.0f}"


def rates(cells: Sequence[Cell]) -> str:
    speed = ("client/s", "words/s", "OS client/s", "OS words/s", "device/s", "server/s", "decode/s", "simulate/s")
    head = ("protocol", "k", "n", "library", *speed, "MB", "n·MSE", "people")
    rows = []
    for cell in cells:
        own, same = cell.own, (cell.protocol.name, str(cell.k), short(cell.n))
        keys = ("client", "words", "system", "system_words", "device", "server", "decode", "simulate")
        speeds = (own[key] for key in keys)
        exact = "" if own["exact"] != own["exact"] else f" (exact {own['exact']:.3g})"
        error = f"{own['mse']:.3g}{exact}"
        rows.append((*same, "hubbub", *map(short, speeds), f"{own['peak']:.0f}", error, short(cell.n)))
        for library, peer in cell.peers.items():
            found = (short(peer["client"]), "", "", "", "", short(peer["server"]), "", "")
            rows.append((*same, library, *found, f"{peer['peak']:.0f}", f"{peer['mse']:.3g}", short(peer["people"])))
    return page.table(head, rows)


def comparison(cells: Sequence[Cell]) -> str:
    head = (
        "protocol",
        "k",
        "n",
        "client",
        "words alone",
        "OS client",
        "OS words alone",
        "server",
        "simulate",
        "below 10",
    )
    rows = []
    for cell in cells:
        ratios = [f"{ratio:.3g}" for ratio in cell.ratios.values()]
        rows.append((cell.protocol.name, str(cell.k), short(cell.n), *ratios, ", ".join(cell.missed)))
    return page.table(head, rows)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="hubbub beside other libraries.")
    parser.add_argument("--quick", action="store_true", help="100 000 people and 128 categories, less time for each")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/reference/benchmarks.md")
    parser.add_argument("--seconds", type=float, help="time for each library's client and server (2; quick: 0.5)")
    parser.add_argument("--only", help="mechanisms to measure, with commas between")
    options = parser.parse_args(argv)
    seconds = options.seconds or (0.5 if options.quick else 2.0)
    about = page.machine()
    python = environment.python()
    used = versions(python)
    wanted = options.only.split(",") if options.only else [protocol.mechanism for protocol in PROTOCOLS]
    missing = sorted({protocol.mechanism for protocol in PROTOCOLS} - set(registry))
    cells = []
    with tempfile.TemporaryDirectory() as name:
        for k in (128,) if options.quick else (128, 1024):
            for n in (100_000,) if options.quick else (100_000, 1_000_000):
                values = people(Path(name), k, n)
                for protocol in PROTOCOLS:
                    if protocol.mechanism in wanted and protocol.mechanism in registry:
                        cells.append(measure(protocol, k, n, values, seconds, python))
                        print(f"measured {cells[-1].name}", file=sys.stderr)
    about += "; " + ", ".join(f"{library} {version}" for library, version in used.items())
    about += f". ε = {EPSILON:g}, {seconds:g} s for each library's client and server."
    text = "\n\n".join([about, rates(cells), "hubbub's rates over those of the faster library:", comparison(cells)])
    if options.write:
        page.write("peers", text)
    if not options.json:
        print(text)
        if missing:
            print("not in the registry: " + ", ".join(missing))
    missed = {cell.name: cell.missed for cell in cells if cell.missed}
    figures = {
        "benchmark": "peers",
        "about": about,
        "ratios": {cell.name: {side: float(f"{ratio:.4g}") for side, ratio in cell.ratios.items()} for cell in cells},
        "below_target": missed,
        "pass": not missed,
    }
    print(json.dumps(figures, ensure_ascii=False))
    return 0 if not missed else 1


if __name__ == "__main__":
    sys.exit(main())
