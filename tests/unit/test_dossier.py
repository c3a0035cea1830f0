"""The dossier and the notice: every figure is the lock's, every example could have been sent, and text stays text."""

import hashlib
import json
import math
import re
import string
from dataclasses import fields
from html import escape
from pathlib import Path

import pytest

from hubbub import cli
from hubbub.cli import output
from hubbub.client.charges import whole
from hubbub.definitions import build, loads
from hubbub.dossier import LANGUAGES, dossier, notice, page
from hubbub.dossier.deployments import DEPLOYMENTS
from hubbub.dossier.example import SECRET, example
from hubbub.dossier.metrics import rows
from hubbub.dossier.text import plain
from hubbub.dossier.wordings import CHINESE, ENGLISH
from hubbub.encoders.rappor import Rappor
from hubbub.errors import ParameterError
from hubbub.lock import Lock, dump
from hubbub.privacy import describe, explain, nats, percent
from hubbub.wire import unpack
from tests.unit.definitions_support import BOOLEAN, MEAN, TOP, lines

FRESH = BOOLEAN | {"strategy": '"fresh"'}
KINDS = {
    "a.boolean": BOOLEAN,
    "b.mean": MEAN | {"dimensions": '{ channel = ["stable", "beta"] }'},
    "c.choice": FRESH | {"kind": '"choice"', "categories": '["left", "right", "top"]'},
    "d.histogram": FRESH | {"kind": '"histogram"', "lower": "0", "upper": "80", "buckets": "8"},
    "e.words": BOOLEAN | {"kind": '"words"', "epsilon": "4.0"},
    "f.vector": FRESH | {"kind": '"vector"', "dimension": "3", "norm": "1"},
    "g.panel": MEAN | {"report_every": "5", "presence": '"hidden"'},
}


def built(metrics: dict[str, dict[str, str]]) -> Lock:
    tables = (f'\n[metrics."{name}"]\n{lines(table)}' for name, table in metrics.items())
    return build(loads((lines(TOP) + "".join(tables)).encode(), "metrics.toml"))


def test_sums_above_the_lives_of_few_reports_are_explained() -> None:
    once, long = (built({"app.yes": BOOLEAN | life}) for life in ({"expires": "2026-12-02"}, {}))
    assert "These sums are what policies are held against" in dossier(once)
    assert "These sums are what policies are held against" not in dossier(long)


ALL = built(KINDS)
TEXT = dossier(ALL)


def test_the_same_lock_gives_the_same_text() -> None:
    assert dossier(built(KINDS)) == TEXT
    assert hashlib.sha256(dump(ALL).encode()).hexdigest() in TEXT


def part(text: str, heading: str) -> str:
    """What stands under a heading, up to the next one of its rank."""
    rank = heading.split(" ")[0]
    return text.split(f"\n{heading}\n")[1].split(f"\n{rank} ")[0].split("\n## ")[0]


@pytest.mark.parametrize("name", KINDS)
def test_each_metric_is_told_with_its_prices_hash_and_purpose(name: str) -> None:
    metric = ALL.metrics[name]
    assert TEXT.count(metric.hash) == 1
    assert f"| {name} | 1 | `{metric.hash}` | {metric.expires} |" in part(TEXT, "## What devices hold to")
    prices = " | ".join(f"{line.nats}, {line.odds}" for line in describe(metric))
    assert f"| {name} | {prices} |" in part(TEXT, "## What one installation gives away")
    asked = part(TEXT, "## What is asked")
    assert f"| {name} | {metric.purpose} | {metric.starts} | {metric.expires} |" in asked
    assert "Owners: telemetry@example.org." in asked


@pytest.mark.parametrize("names", [[*KINDS], [*KINDS][:2], [*KINDS][6:]])
def test_each_sentence_and_row_is_said_once(names: list[str]) -> None:
    lock = built({name: KINDS[name] for name in names})
    text = dossier(lock)
    for name, metric in lock.metrics.items():
        own = part(text, f"### {name}")
        for sentence in explain(metric):
            line = f"- {plain(sentence)}"
            (found,) = (one for one in text.splitlines() if one == line or one.startswith(f"{line} ("))
            if found in own.splitlines():
                continue
            whose = found.removeprefix(line)
            assert not whose or (name in whose) != ("(all but" in whose)
        for left, right in rows(metric):
            assert (f"| {left} | {right} |" in own) != (
                f"| {left} | {right} |" in part(text, "## What leaves a device")
            )


def test_sentences_name_the_metrics_for_which_they_hold_unless_these_are_all() -> None:
    assert "\n- Each price is that of one installation and of this metric alone.\n" in TEXT
    assert re.search(r"\n- One report: epsilon 1\.000, .* after reading it\. \(all but e\.words\)\n", TEXT)
    assert re.search(r"\n- A device that never changes: epsilon 2\.000, .* \(a\.boolean, b\.mean, g\.panel\)\n", TEXT)


def test_presence_that_only_some_metrics_hide() -> None:
    told = "Metrics whose windows without the program are filled in do not hide them where others report beside them."
    assert told in part(TEXT, "## What is not hidden and not protected")
    for name in ("a.boolean", "g.panel"):
        assert told not in dossier(built({name: KINDS[name]}))


def test_owners_that_differ_stand_beside_their_metrics() -> None:
    asked = dossier(built({"a": BOOLEAN, "b": BOOLEAN | {"owners": '["x@example.org", "y@example.org"]'}}))
    assert "| b | Decide where it stands | 2026-12-01 | 2027-11-30 | x@example.org, y@example.org |" in asked
    assert "Owners:" not in asked


def test_what_is_said_of_all_metrics_holds_for_each() -> None:
    weekly = dossier(built({"a": BOOLEAN, "b": BOOLEAN, "c": BOOLEAN | {"window": '"week"'}}))
    assert "told once for each" not in part(weekly, "## What leaves a device")
    for name, window in (("a", "day"), ("b", "day"), ("c", "week")):
        assert f"| told once for each | {window} |" in part(weekly, f"### {name}")


def test_graces_and_absences_are_told() -> None:
    text = dossier(built({"a": BOOLEAN | {"grace": '"36h"'}, "b": MEAN | {"presence": '"hidden"'}}))
    assert "Reports are taken until 36 to 336 hours after the end of their window." in text
    for name, hours, absent in (("a", 36, "no report"), ("b", 336, "reported as 0 once it runs again")):
        own = part(text, f"### {name}")
        assert f"| accepted until after a window's end | {hours} hours |" in own
        assert f"| a window in which the program never ran | {absent} |" in own


@pytest.mark.parametrize("name", KINDS)
def test_the_example_is_what_a_device_could_send(name: str) -> None:
    metric = ALL.metrics[name]
    shown = example(metric, ALL.collection)
    body = json.loads(shown.body)
    assert body.keys() == {"schema", "reports"}
    (entry,) = body["reports"]
    assert entry.keys() == {"id", "metric", "hash", "window", "segment", "payload"}
    assert (entry["metric"], entry["hash"]) == (name, metric.hash[:32])
    assert entry["window"] == metric.life.start
    assert entry["segment"] in metric.segments
    payload = unpack(entry["payload"], metric.encoder.radices)
    assert metric.encoder.possible(payload)
    assert re.fullmatch("[0-9a-f]{16}", entry["id"])
    assert shown == example(metric, ALL.collection)
    assert f"```json\n{shown.body}\n```" in TEXT
    assert SECRET.hex() not in TEXT
    assert shown.clear == payload[: metric.encoder.public]
    own = part(TEXT, f"### {name}")
    assert ("\nIn the clear in this payload: " in own) == bool(metric.encoder.public)
    given = [1.0 if said == "as often" else float(said.split()[0]) for _, said in shown.often]
    assert all(said.endswith("as often" if shown.seldom else " %") for _, said in shown.often)
    loss = metric.encoder.prices(1).report
    assert max(given) <= min(given) * math.exp(loss) * 1.01  # printed with three digits


def test_the_example_tells_what_is_in_the_clear_and_counts_it() -> None:
    labels = ", ".join(f'"l{i}"' for i in range(120))
    choice = BOOLEAN | {"kind": '"choice"', "categories": f"[{labels}]"}
    lock = built(
        {
            "a": choice | {"mechanism": '"olh_pool"'},
            "b": KINDS["e.words"],
            "c": FRESH | {"kind": '"choice"', "categories": f"[{labels}]", "mechanism": '"olh"'},
        }
    )
    text = dossier(lock)
    a, b, c = (part(text, f"### {name}") for name in "abc")
    stays = "drawn once for each device, one of {}, the same in all of its reports.\n"
    seed, cohort = (example(lock.metrics[name], lock.collection).clear[0] for name in "ab")
    assert f"In the clear in this payload: {seed}; {stays.format(121)}" in a
    assert f"In the clear in this payload: {cohort}; {stays.format(16)}" in b
    assert "; drawn again for each report, without a look at the value.\n" in c
    (own,) = re.findall(r"l0: ([0-9.]+) %", a)
    odds = [float(p) for p in lock.metrics["a"].encoder.chances()]  # type: ignore[attr-defined]
    assert min(abs(float(own) - 100 * p / 121) for p in odds) < 0.001
    assert "This payload, beside a device with this value, is sent by one with no word: " in b
    assert "; this word: as often." in b
    assert "This payload, beside a device with this value, is sent by one with none: " in c


def test_sums_are_those_of_devices() -> None:
    lock = built({"a": MEAN, "b": MEAN})
    asked = dossier(lock)
    assert "| all reports about one day | 2.000 | from even odds to 88.1 % |" in asked
    assert "| a device on which nothing ever changes, while these last | 4.000 |" in asked
    assert "| **this lock** | **2.816** | one day of one installation |" in asked
    assert "| **this lock** | **2.000** | all reports about one day, by themselves |" in asked
    assert "| **this lock** | **4.000** | values that never change, while these last |" in asked
    assert "| `strict` | refused |" in asked
    assert "reports about one day: 2 nats are more than the 1 allowed" in asked
    assert "| `standard` | accepted; the limit on the prices of a year is the app's own to write |" in asked


def test_what_has_changed_since() -> None:
    old, more = built({"a": MEAN}), built({"a": MEAN | {"version": "2", "epsilon": "2.0"}, "b": BOOLEAN})
    assert "No earlier lock was given" in dossier(more)
    assert "Nothing has changed." in dossier(old, old)
    changed = dossier(more, old).split("## Since the last approved one")[1]
    assert "2 of 2 metrics differ; more is asked of devices by 2." in changed
    assert "**asks for more**: one report: epsilon 1.000 → 2.000" in changed
    assert "\\>" not in changed
    moved = dossier(Lock("another", old.metrics), old)
    assert "The one approved last is of another collection, `editor-desktop`: every device begins anew." in moved
    again = built({"a": MEAN | {"version": "2", "description": '"Better text"'}})
    for since, breaks in ((changed, True), (dossier(again, old).split("## Since the last approved one")[1], False)):
        assert ("old and new estimates are not of the same thing" in since) is breaks
    less = dossier(old, more).split("## Since the last approved one")[1]
    assert "**b**: removed, version 1" in less


def test_published_figures_follow_from_published_parameters() -> None:
    half = 2**31
    rappor = Rappor(128, 2, 8, half // 2, half, 3 * half // 2, 1)  # f = 1/2, p = 1/2, q = 3/4
    prices = rappor.prices(1)
    told = [float(one.epsilon) for one in DEPLOYMENTS if "RAPPOR" in one.what]
    assert told == [1.08, 4.40]
    assert prices.report <= told[0] < prices.report + 0.01
    assert prices.steady <= told[1] < prices.steady + 0.01


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "a | b", "**x** [y](http://z)", "# no heading", "- x", "1. y"]
)
def test_text_of_a_definition_never_takes_part_in_the_layout(text: str) -> None:
    lock = built({"a": BOOLEAN | {"description": json.dumps(text), "purpose": json.dumps(text)}})
    for paper in (dossier(lock), *(notice(lock, language) for language in LANGUAGES)):
        shown = page(paper, text)
        assert "<script" not in shown
        assert "<a " not in shown
        assert escape(text) in re.sub(r"<[^>]*>", "", shown)
        for drawn in re.findall(r"<table>(.*?)</table>", shown, re.S):
            cells = {len(re.findall("<t[hd]>", row)) for row in drawn.split("</tr>") if "<t" in row}
            assert len(cells - {0}) == 1
    shown = page(dossier(lock), text)
    assert f"<p>{escape(text)}</p>" in shown  # the description
    assert f"<td>{escape(text)}</td>" in shown  # the purpose


def test_the_page_loads_nothing() -> None:
    made = page(TEXT, "Dossier <x>")
    assert "<title>Dossier &lt;x&gt;</title>" in made
    assert not re.search(r"(src|href)=|url\(|@import|<script|<link", made)
    assert '<html lang="en">' in made
    assert '<span class="whole">2026-12-01</span>' in made
    assert not re.search(r"[0-9] %", made)  # the space before a percent sign does not break
    chinese = page(notice(ALL, "zh"), "", "zh")
    assert '<html lang="zh-CN">' in chinese
    assert '<span class="whole">--state</span> FOLDER</code>' in chinese


def test_both_languages_say_the_same() -> None:
    for one in fields(ENGLISH):
        english, chinese = getattr(ENGLISH, one.name), getattr(CHINESE, one.name)
        assert type(english) is type(chinese)
        assert len(english) == len(chinese) or isinstance(english, str)
        assert _names(english) == _names(chinese), one.name


def _names(wording: object) -> set[str]:
    found = wording if isinstance(wording, str) else repr(wording)
    return {name for _, name, _, _ in string.Formatter().parse(found.replace("{'", "").replace("'}", "")) if name}


def test_the_notice_says_how_sure_one_can_become() -> None:
    text = notice(built({"a": MEAN, "b": MEAN}))
    assert "becomes at most 73.2 % sure of one" in text
    assert "All reports about one day together: at most 88.1 % sure." in text
    assert "the whole year: practically sure." in text
    assert "- In the worst case a year gives no protection." in text
    light = built(
        {"a": BOOLEAN | {"epsilon": "0.5", "strategy": '"fresh"', "window": '"week"', "expires": "2026-12-15"}}
    )
    assert "worst case" not in notice(light)
    assert "Sent with it as it is, without disguise: channel (stable, beta)." in notice(ALL)
    endless = built({"a": BOOLEAN | {"epsilon": "2.0", "permanent_epsilon": "2.0", "changes_visible": "true"}})
    assert "the whole year: entirely sure." in notice(endless)
    shown = notice(ALL)
    assert "In which hours, days or weeks the program ran: a.boolean" in shown
    assert "so that they do not show in these: g.panel." in shown
    assert "travels with each report, one of so many: e.words (16)." in shown
    assert "its turn can be seen, one of so many: g.panel (5)." in shown
    assert "Once for each day, at most one in 5, from 2026-12-01 until the day before 2027-11-30." in shown
    assert "told to come from the same device: e.words, g.panel." in shown
    assert "g.panel" not in notice(built({"a": MEAN}))


def test_the_notice_sums_over_metrics_and_tells_the_dearest_report_and_year() -> None:
    weekly = FRESH | {"window": '"week"', "expires": "2027-02-15"}  # four weeks of 2026, six of 2027
    lock = built({"a": weekly | {"epsilon": "0.2"}, "b": weekly | {"epsilon": "0.1"}})
    text = notice(lock)
    for said, loss in (
        ("becomes at most {} sure of one by reading it", 0.2),
        ("All reports about one day together: at most {} sure.", 0.3),
        ("if nothing ever changes on your device: at most {} sure.", 3.0),
        ("two different courses of the whole year: at most {} sure.", 1.8),
    ):
        assert said.format(percent(loss)) in text
    hardly = built({"a": BOOLEAN | {"epsilon": "4", "permanent_epsilon": "5"}})
    assert 0.5 < hardly.metrics["a"].encoder.linkage_bits < 1
    assert "told to come from the same device" not in notice(hardly)
    (ran,) = (line for line in notice(ALL).splitlines() if line.startswith("- In which hours"))
    assert "g.panel" not in ran
    apart = built({"a": MEAN, "b": MEAN | {"dimensions": '{ os = ["mac"] }'}})
    assert "without disguise: os (mac)." in answers(apart)[0]


def answers(lock: Lock, language: str = "en") -> list[str]:
    """What the notice answers to the questions of the stores' forms."""
    words = {"en": ENGLISH, "zh": CHINESE}[language]
    rows = part(notice(lock, language), f"## {words.form}").splitlines()
    told = [row.strip("|").split(" | ")[1].strip() for row in rows if row.startswith("| ")][2:]
    assert len(told) == len(words.forms)
    assert not re.search("[{}]|  ", "".join(told))
    return told


CLEAR = MEAN | {"dimensions": '{ channel = ["stable", "beta"], os = ["mac"] }'}
TOLD_EN = "told to come from the same device: "
TOLD_ZH = "可能部分或全部被认出来自同一台设备："


@pytest.mark.parametrize(
    ("metric", "clear", "number", "turn", "apart"),
    [
        (MEAN, False, False, False, False),
        (CLEAR, True, False, False, False),
        (KINDS["e.words"], False, True, False, True),
        (MEAN | {"report_every": "2"}, False, False, True, True),
        (BOOLEAN | {"permanent_epsilon": "1", "changes_visible": "true"}, False, False, False, True),
    ],
)
def test_what_the_stores_are_told_is_true_of_the_lock(
    metric: dict[str, str], clear: bool, number: bool, turn: bool, apart: bool
) -> None:
    for language, parts in {
        "en": (
            "Sent with them as it is, without disguise: channel (stable, beta), os (mac).",
            "carry a number that stays the same for the device, one of so many: a (16).",
            "the turn of the device can be seen, one of so many: a (2).",
            f"{TOLD_EN}a.",
        ),
        "zh": (
            "未经扰动的内容还有：channel（stable、beta）、os（mac）。",
            "在同一台设备上保持不变（括号内为可能的编号个数）：a（16）。",
            "可以看出轮到这台设备的次序（括号内为次序总数）：a（2）。",
            f"{TOLD_ZH}a。",
        ),
    }.items():
        data, tied, tracking, *_ = answers(built({"a": metric}), language)
        told = (data, tied, tied, tracking)
        for said, answer, wanted in zip(parts, told, (clear, number, turn, apart), strict=True):
            assert (said in answer) is wanted, (said, answer)
        alike = {"en": "No identifier ties reports together", "zh": "没有标识符把各份报告彼此联系起来"}[language]
        assert (alike in tracking) is not apart


def test_what_the_stores_are_told_names_each_metric_and_each_fact_once() -> None:
    lock = built({"a": CLEAR, "b": CLEAR, "c": MEAN, "d": KINDS["e.words"] | {"report_every": "3"}})
    data, tied, tracking, *_ = answers(lock)
    assert data.endswith("without disguise: channel (stable, beta), os (mac). Nothing else of the person.")
    assert "one of so many: d (16). By when" in tied
    assert f"{TOLD_EN}d. How many bits" in tracking


def test_who_mixes_reports_on_the_way_is_a_recipient() -> None:
    mixed = FRESH | {"shuffler": '"Mix*net*, by X"'}
    lock = built({"a": mixed, "b": BOOLEAN, "c": mixed, "d": FRESH | {"shuffler": '"Other"'}})
    for language, named, said in (
        ("en", "Mix\\*net\\*, by X (a, c), Other (d).", ("who mixes them", "a recipient who", "whoever mixes reports")),
        ("zh", "Mix\\*net\\*, by X（a、c）、Other（d）。", ("由其混合", "也是接收方", "混合报告的一方")),
    ):
        words = {"en": ENGLISH, "zh": CHINESE}[language]
        (seen,) = (one for one in part(notice(lock, language), f"## {words.seen}").splitlines() if named in one)
        shared, _, kept = answers(lock, language)[-3:]
        for line, phrase in zip((seen, shared, kept), said, strict=True):
            assert phrase in line
        assert shared.endswith(named)
        without = notice(built({"b": BOOLEAN}), language)
        assert not any(phrase in without for phrase in said)
    text = dossier(lock)
    assert "| Mix\\*net\\*, by X, who mixes reports of a, c on the way, as the owners declare | " in text
    assert "| Other, who mixes reports of d on the way, as the owners declare | " in text
    assert "| under which agreement reports are mixed on the way, in which country, " in text
    alone = dossier(built({"b": BOOLEAN}))
    assert "on the way, as the owners declare" not in alone
    assert "under which agreement" not in alone


def test_reports_that_can_be_told_to_be_of_one_device_are_the_same_everywhere() -> None:
    whole = BOOLEAN | {"permanent_epsilon": "1", "changes_visible": "true"}
    lock = built({"a": BOOLEAN, "b": KINDS["e.words"], "c": KINDS["g.panel"], "d": whole})
    for language, told, names in (("en", TOLD_EN, "b, c, d."), ("zh", TOLD_ZH, "b、c、d。")):
        found = [line for line in notice(lock, language).splitlines() if told in line]
        assert len(found) == 2
        assert all(f"{told}{names}" in line for line in found)


def test_a_language_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="language"):
        notice(ALL, "xx")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.chdir(tmp_path)
    Path("metrics.lock").write_text(dump(ALL), "utf-8")

    def ran(*words: str) -> tuple[int, str, str]:
        output.console.cache_clear()
        output.log.cache_clear()
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert isinstance(ended.value.code, int)
        return ended.value.code, *capsys.readouterr()

    return ran


def test_command_line(run: object) -> None:
    assert callable(run)
    assert run("dossier") == (0, TEXT, "")
    code, out, _ = run("dossier", "--json")
    assert (code, json.loads(out)["markdown"]) == (0, TEXT)
    assert json.loads(out)["sha256"] == hashlib.sha256(Path("metrics.lock").read_bytes()).hexdigest()
    assert run("notice", "--lang", "zh") == (0, notice(ALL, "zh"), "")
    assert run("notice", "-o", "n.html")[0] == 0
    assert Path("n.html").read_text("utf-8") == page(
        notice(ALL), "What editor-desktop measures, and how far answers stay hidden"
    )
    assert run("dossier", "--format", "html", "--out", "d.txt")[0] == 0
    assert Path("d.txt").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("notice", "--lang", "fr"), "--lang must be one of en, zh; got 'fr'"),
        (("dossier", "--format", "pdf"), "--format must be one of md, html; got 'pdf'"),
        (("dossier", "-o", "d.pdf"), "d.pdf: the name must end in .md or .html"),
        (("dossier", "-o", "missing/d.md"), "the folder missing does not exist"),
        (("dossier", "other.lock"), "other.lock"),
        (("dossier", "--previous", "other.lock"), "other.lock"),
    ],
)
def test_bad_input(run: object, words: tuple[str, ...], said: str) -> None:
    assert callable(run)
    code, out, err = run(*words)
    assert code == 2
    assert not out
    assert said in err, err
    assert "Traceback" not in err


def test_how_far_reports_belong_together_is_told_metric_by_metric() -> None:
    labels = ", ".join(f'"c{i}"' for i in range(200))
    wide = BOOLEAN | {"kind": '"choice"', "categories": f"[{labels}]", "mechanism": '"oue"'}
    pool = wide | {"mechanism": '"olh_pool"'}
    lock = built({"a": BOOLEAN, "b": wide, "c": pool, "d": BOOLEAN | {"report_every": "5"}})
    text = dossier(lock)
    for name, metric in lock.metrics.items():
        public, linkage = metric.encoder.public_bits, metric.encoder.linkage_bits
        (row,) = re.findall(rf"^\| {name} \| ([0-9.]+) \| ([0-9.]+) \|$", text, re.M)
        clear = public + math.log2(metric.report_every)
        assert clear + linkage <= float(row[0]) < clear + linkage + 0.01
        assert clear <= float(row[1]) < clear + 0.01
    assert "told to come from the same device: b, c, d." in notice(lock)
    assert "told to come from the same device" not in notice(built({"a": BOOLEAN}))


def test_an_hourly_day_counts_each_of_its_windows() -> None:
    lock = built({"a": BOOLEAN | {"window": '"hour"'}})
    change = lock.metrics["a"].prices.change
    assert f"**{math.ceil(24 * change * 1000) / 1000:.3f}** | one day of one installation" in dossier(lock)


def test_a_changed_day_counts_each_report_of_it_at_the_dearest_members() -> None:
    names, group = "abcde", {"rotation": '"usage"'}
    for window, rounds, rest in (("hour", 4, 4), ("day", 0, 1), ("week", 0, 1)):
        turns = group | {"window": f'"{window}"'}
        lock = built({name: BOOLEAN | turns | {"epsilon": f"{i}.0"} for i, name in enumerate(names, 1)})
        prices = sorted((metric.prices.change for metric in lock.metrics.values()), reverse=True)
        day, text = rounds * sum(prices) + sum(prices[:rest]), dossier(lock)
        assert f"**{nats(day)}** | one day of one installation" in text
        assert f"| one window in which everything changes | {nats(prices[0])} |" in text


def test_histories_of_each_year_are_summed_over_metrics() -> None:
    lock = built({"a": MEAN, "b": BOOLEAN})
    years = [whole(metric).life_by_year for metric in lock.metrics.values()]
    text = dossier(lock)
    for year in (2026, 2027):
        assert f"| any two histories of the year {year} | {nats(sum(one[year] for one in years))} |" in text
