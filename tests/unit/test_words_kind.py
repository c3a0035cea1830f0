"""The kind `words` from metrics.toml to a table of words: one metric with permanent answers, one without."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.client.reporter import Reporter
from hubbub.client.showing import preview_plain, preview_text
from hubbub.client.state import Running
from hubbub.definitions import build, facts, loads
from hubbub.definitions.advice import review
from hubbub.definitions.wording import worth_lines
from hubbub.encoders.rappor import Rappor
from hubbub.errors import LockError, ParameterError
from hubbub.estimates import period, rows, words
from hubbub.lock import Metric, dump, parse
from hubbub.mechanisms import of_metric
from hubbub.mechanisms.words import Words
from hubbub.privacy import exact_life, explain
from hubbub.store import Report, open_store
from tests.unit.client_support import DAY, STARTS
from tests.unit.collecting import key, minutes, stored
from tests.unit.collecting import lock as locked
from tests.unit.definitions_support import BOOLEAN, Shell, text

WORDS = BOOLEAN | {"kind": '"words"', "min_reports": "100"}


def metric(**changes: str | None) -> Metric:
    return build(loads(text(WORDS | changes).encode(), "metrics.toml")).metrics["editor.minutes"]


MEMO, FRESH = metric(epsilon="4.0"), metric(strategy='"fresh"', epsilon="4.0")


def test_each_strategy_has_its_mechanism() -> None:
    assert isinstance(MEMO.encoder, Rappor)
    assert MEMO.encoder.memo
    assert FRESH.encoder.name == "cms"
    assert metric(mechanism='"hcms"', strategy='"fresh"').encoder.name == "hcms"
    sizes = metric(bits="64", hashes="2", cohorts="4").encoder
    assert (sizes.bits, sizes.hashes, sizes.cohorts) == (64, 2, 4)  # type: ignore[attr-defined]
    assert facts(MEMO)["cohorts"] == "16"
    for one in (MEMO, FRESH):
        assert parse(dump(locked(one))).metrics[one.name] == one
        assert of_metric(one).epsilon <= 4
        assert exact_life(one.encoder, 30) == one.encoder.prices(30).life
        assert len(explain(one)) > 10


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bits": "65", "hashes": "2"}, "bits = 65"),
        ({"cohorts": "3"}, "a power of two"),
        ({"mechanism": '"cms"', "strategy": '"fresh"', "cohorts": "4"}, "cohorts = 4"),
        ({"mechanism": '"cms"'}, 'write strategy = "fresh"'),
        ({"categories": '["a"]'}, "belongs to the kind choice, not to words"),
    ],
)
def test_what_does_not_fit_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, changes: dict[str, str], said: str
) -> None:
    file = tmp_path / "metrics.toml"
    file.write_text(text(WORDS | changes), "utf-8")
    shell = Shell(capsys)
    assert shell("lint", file) == 2
    assert said in shell.err


def test_lint_says_what_a_rare_word_is_worth() -> None:
    for changes in ({}, {"strategy": '"fresh"'}):
        registry = loads(text(WORDS | {"expected_devices": "100000"} | changes).encode(), "metrics.toml")
        (found,) = review(registry, registry.metrics["editor.minutes"].starts)
        line = worth_lines(build(registry).metrics["editor.minutes"], found)[0]
        assert "points for a rare one of them" in line
        mechanism = of_metric(build(registry).metrics["editor.minutes"])
        assert isinstance(mechanism, Words)
        assert found.worth[0].margin == pytest.approx(1.959964 * mechanism.null_se(100_000), rel=1e-6)


def test_a_lock_of_words_has_no_grid() -> None:
    plain = json.loads(dump(locked(FRESH)))
    plain["metrics"][FRESH.name]["step"] = 2_000_000
    with pytest.raises(LockError, match="step"):
        parse(json.dumps(plain))


def payloads(metric: Metric, crowd: dict[str, int]) -> list[str]:
    """What devices send for their first window, by their own code."""
    sent = []
    for device, word in enumerate(word for word, count in crowd.items() for _ in range(count)):
        reporter = Reporter(metric, "editor-desktop", device.to_bytes(32, "big"), "")
        read = reporter.form.read(word)
        running = Running(metric.name, metric.hash, STARTS, STARTS + DAY, "", read)
        report = reporter.encode(running, STARTS + DAY)
        assert report is not None
        sent.append(json.loads(report.body)["reports"][0]["payload"])
    return sent


@pytest.mark.parametrize("metric", [MEMO, FRESH], ids=lambda m: m.encoder.name)
def test_words_of_devices_are_found(metric: Metric, tmp_path: Path) -> None:
    crowd = {"grep": 900, "make": 600, "": 500}
    sent = [Report(key(metric), i, "", payload) for i, payload in enumerate(payloads(metric, crowd))]
    with open_store(tmp_path / "store.db") as store:
        store.accept(locked(metric))
        store.write(sent)
        now = STARTS + DAY + metric.grace
        assert {(row.state, row.n, row.value) for row in rows(store, now=now)} >= {("final", 2000, None)}
        with pytest.raises(ParameterError, match="a list of candidates"):
            period(store, now=now, metric=metric.name)
        asked: dict[str, Any] = {"now": now, "metric": metric.name, "level": 1 - 1e-6}
        first = words(store, ["grep", "make", "vim", "emacs"], **asked)[0]
        assert (first.state, first.n, first.window_start) == ("final", 2000, "2026-12-01T00:00:00Z")
        assert first.table is not None
        assert first.table.words == ("grep", "make")
        assert np.abs(first.table.share - [0.45, 0.3]).max() < 6 * first.table.se.max()
        early = words(store, ["grep"], now=STARTS + 5, metric=metric.name)
        assert all((one.state, one.table) == ("open", None) for one in early)
        with pytest.raises(ParameterError, match="metric"):
            words(store, ["grep"], now=now, metric="other")


def test_other_kinds_have_no_words(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        store.accept(locked(minutes()))
        store.write(stored(minutes(), 200, ones=100))
        with pytest.raises(ParameterError, match="one of the kind words"):
            words(store, ["a"], now=STARTS + 2 * DAY, metric="editor.minutes")


def test_one_cohort_for_all_metrics_of_a_device() -> None:
    other = metric(epsilon="2.0", bits="64")
    cohorts = []
    for one in (MEMO, other):
        reporters = (Reporter(one, "c", bytes([i] * 32), "") for i in range(40))
        cohorts.append([reporter.preview("word").answer[0] for reporter in reporters])
    assert cohorts[0] == cohorts[1]
    assert len(set(cohorts[0])) > 8


@pytest.mark.parametrize("metric", [MEMO, FRESH], ids=lambda m: m.encoder.name)
def test_a_preview_is_told_in_words(metric: Metric) -> None:
    seen = Reporter(metric, "c", bytes(32), "").preview("secret plan")
    said = preview_text(metric, "secret plan", seen)
    assert "this word" in said
    assert "no word" in said
    assert "another word" in said
    assert "a hash of its letters" in said
    assert "clipped" not in said
    assert "%" not in said.split("\n\n")[-1]  # chances of single rows of bits are too small to print
    assert said.endswith("\n  this word       as often")
    chances = preview_plain(metric, seen)["chances"]
    assert len(chances) == 3
    assert all(0 < chance < 1 for chance in chances.values())
