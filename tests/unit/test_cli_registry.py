"""`hubbub registry` as a user meets it: what is printed, what is written, exit codes."""

import datetime
import json
import re
from pathlib import Path

import pytest

from hubbub.definitions import build, load, schema, template
from hubbub.lock import dump, parse
from tests.unit.definitions_support import BOOLEAN, MEAN, Shell, lines, text

TWO = text(MEAN | {"expected_devices": "4_000", "target_margin": "10"}) + '\n[metrics."editor.used"]\n' + lines(BOOLEAN)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("hubbub.cli.registry.today", lambda: datetime.date(2026, 11, 30))
    Path("metrics.toml").write_text(TWO, "utf-8")
    return Shell(capsys)


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def test_lint_says_what_metrics_are_worth(shell: Shell) -> None:
    assert shell("lint") == 0
    assert shell.err == ""
    assert shell.out.startswith(
        "metrics.toml: 2 metrics of editor-desktop, no problems\n\neditor.minutes  mean of 0 to 480 min"
    )
    assert "with 4 000 devices a day ± 16 min (3.4 % of the range) at worst; a week ± 11" in shell.prose
    assert (
        "target ± 10 missed; cheapest cures: upper 290 → ± 9.7, epsilon 2 → ± 9.8, 11 000 devices → ± 9.7"
        in shell.prose
    )
    assert "editor.used a share of yes, one report every day with 700 devices a day ± 8 points" in shell.prose
    assert names() == ["metrics.toml"]


def test_lint_never_ends_a_line_inside_a_number(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for width in range(40, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        assert shell("lint") == 0
        printed = shell.out.splitlines()
        assert not re.search(r"±\n|\d\n *(\d{3}\b|%)", shell.out)
        assert max(map(len, printed)) <= width


def test_lint_prints_json(shell: Shell) -> None:
    assert shell("lint", "metrics.toml", "--json") == 0
    tree = json.loads(shell.out)
    assert (tree["file"], tree["problems"]) == ("metrics.toml", [])
    minutes, used = tree["metrics"]
    assert minutes["name"] == "editor.minutes"
    assert minutes["worth"][0]["devices"] == 4000
    assert minutes["worth"][0]["margin"] == pytest.approx(16.09, abs=0.01)
    assert [cure["key"] for cure in minutes["cures"]] == ["upper", "epsilon", "expected_devices"]
    assert [one["devices"] for one in used["worth"]] == [700, 4000, 50_000]
    assert used["warnings"] == []


def test_lint_shows_warnings_and_build_says_them_aside(shell: Shell) -> None:
    Path("metrics.toml").write_text(text(MEAN | {"report_every": "7"}), "utf-8")
    assert shell("lint") == 0
    assert "warning: report_every = 7 shares the factor 7" in shell.prose
    assert "no errors, 1 warning\n" in shell.out
    assert shell("build") == 0
    assert "warning" not in shell.out
    assert shell.err.startswith("editor.minutes: report_every = 7 shares the factor 7")


def test_build_writes_the_lock_beside_the_file(shell: Shell) -> None:
    assert shell("build") == 0
    assert shell.out == "Wrote metrics.lock: 2 metrics of editor-desktop\n"
    assert names() == ["metrics.lock", "metrics.toml"]
    assert parse(Path("metrics.lock").read_bytes()) == build(load("metrics.toml"))
    assert shell("build") == 0
    assert shell.out == "metrics.lock is up to date: 2 metrics of editor-desktop\n"


def test_build_says_what_changed(shell: Shell) -> None:
    assert shell("build", "metrics.toml", "--lock", "app.lock") == 0
    Path("metrics.toml").write_text(text(MEAN | {"version": "2", "upper": "720"}), "utf-8")
    assert shell("build", "metrics.toml", "--lock", "app.lock") == 0
    assert shell.out.startswith(
        "Wrote app.lock: 1 metric of editor-desktop\neditor.minutes  changed (version 1 -> 2)\n"
    )
    assert "upper: 480 -> 720" in shell.out
    assert "asks for more: permanent answers are drawn again: epsilon 2.000 + 2.000" in shell.prose
    assert "breaks the series" in shell.out
    assert "editor.used removed (version 1)" in shell.prose
    assert names() == ["app.lock", "metrics.toml"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"upper": "720"}, 'metrics."editor.minutes".version = 1\n    is that of the lock'),
        ({"version": "1", "expires": "2027-12-01"}, 'metrics."editor.minutes".expires = 2027-12-01\n    is later than'),
        ({"epsilon": "21"}, 'metrics."editor.minutes".epsilon = 21\n    is not a number'),
    ],
)
def test_build_that_is_refused_leaves_the_lock_alone(shell: Shell, changes: dict[str, str], said: str) -> None:
    assert shell("build") == 0
    before = Path("metrics.lock").stat(), Path("metrics.lock").read_bytes()
    Path("metrics.toml").write_text(text(MEAN | changes), "utf-8")
    assert shell("build") == 2
    assert shell.out == ""
    assert shell.err.startswith("hubbub: 1 problem in metrics.toml\n")
    assert said in shell.err
    assert (Path("metrics.lock").stat(), Path("metrics.lock").read_bytes()) == before
    assert names() == ["metrics.lock", "metrics.toml"]


def test_build_refuses_a_lower_version(shell: Shell) -> None:
    Path("metrics.toml").write_text(text(MEAN | {"version": "3"}), "utf-8")
    assert shell("build") == 0
    Path("metrics.toml").write_text(TWO, "utf-8")
    assert shell("build") == 2
    assert (
        'metrics."editor.minutes".version = 1\n    is lower than the 3 of the lock\n    -> write version = 4'
        in shell.err
    )


@pytest.mark.parametrize(("old", "new"), [('"lower": 0', '"lower": 5'), ("hubbub.lock/1", "hubbub.lock/0"), ("{", "")])
def test_build_never_replaces_a_lock_that_it_cannot_believe(shell: Shell, old: str, new: str) -> None:
    assert shell("build") == 0
    edited = Path("metrics.lock").read_text("utf-8").replace(old, new, 1)
    Path("metrics.lock").write_text(edited, "utf-8")
    assert shell("build") == 2
    assert shell.err.startswith("hubbub: metrics.lock: ")
    assert "bring back the one from version control" in shell.err
    assert Path("metrics.lock").read_text("utf-8") == edited


def test_build_never_writes_over_the_file_it_reads(shell: Shell) -> None:
    assert shell("build", "metrics.toml", "--lock", "metrics.toml") == 2
    assert shell.err == "hubbub: --lock must be the name of a metrics.lock, not of a metrics.toml; got 'metrics.toml'\n"
    assert Path("metrics.toml").read_text("utf-8") == TWO


def test_build_into_a_folder_that_is_not_there(shell: Shell) -> None:
    assert shell("build", "metrics.toml", "--lock", "none/metrics.lock") == 2
    assert shell.err == "hubbub: none/metrics.lock: the folder none does not exist\n"
    assert names() == ["metrics.toml"]


@pytest.mark.parametrize("file", ["metrics.lock", "metrics.toml"])
def test_show_prints_prices_in_words_and_their_sums(shell: Shell, file: str) -> None:
    assert shell("build") == 0
    assert shell("show", file) == 0
    assert "editor.minutes Whether search was used version 1: mean of 0 to 480 min, one report every day" in shell.prose
    assert "364 days from 2026-12-01 to 2027-11-30, 364 reports" in shell.prose
    assert "hash 91e3ba24febd013c2b5155748646b00e8754524c0e76a64cd3a5e26840e98c96" in shell.prose
    for row in (
        "one report 1.000 73.2 %",
        "never changes 2.000 88.1 %",
        "window 1.408 80.4 %",
        "life 257.052 practically certain",
    ):
        assert row in shell.prose
    assert "All 2 metrics together, one installation (their prices add up)" in shell.prose
    assert "one report of each 2.000 from even odds to 88.1 %" in shell.prose
    assert "whole life 514.104 from even odds to practical certainty" in shell.prose


def test_show_one_metric(shell: Shell) -> None:
    assert shell("show", "metrics.toml", "editor.used") == 0
    assert "editor.minutes" not in shell.out
    assert "together" not in shell.out
    assert shell("show", "metrics.toml", "editor.user") == 2
    assert shell.err == "hubbub: NAME must be one of editor.minutes, editor.used; got 'editor.user'\n"


def test_show_takes_an_empty_name_for_a_name(shell: Shell) -> None:
    assert shell("show", "metrics.toml", "") == 2
    assert shell.err == "hubbub: NAME must be one of editor.minutes, editor.used; got ''\n"
    assert shell("show", "metrics.toml", "editor.us\u0435d") == 2
    assert "(character 10 е is U+0435 CYRILLIC SMALL LETTER IE, which is not ASCII)" in shell.err


def test_show_names_what_is_sent_in_the_clear(shell: Shell) -> None:
    changed = {"dimensions": '{ os = ["linux", "mac"], arm = ["a"] }', "report_every": "3", "window": '"week"'}
    Path("metrics.toml").write_text(text(MEAN | changed), "utf-8")
    assert shell("show", "metrics.toml") == 0
    assert "sent in the clear: os and arm; segments linux/a, mac/a" in shell.prose
    assert "one report every 3 weeks" in shell.prose


def test_a_shuffler_is_told_by_show_and_diff(shell: Shell) -> None:
    fresh = BOOLEAN | {"strategy": '"fresh"'}
    Path("metrics.toml").write_text(text(fresh), "utf-8")
    Path("mixed.toml").write_text(text(fresh | {"shuffler": '"Mixnet, run by Example"'}), "utf-8")
    assert shell("show", "metrics.toml") == 0
    assert "mixed on the way" not in shell.prose
    prices = shell.out[shell.out.index(" price of") :]
    assert shell("show", "mixed.toml") == 0
    assert "mixed on the way, as its owners declare, by Mixnet, run by Example; no price counts on it" in shell.prose
    assert shell.out.endswith(prices)
    assert shell("show", "mixed.toml", "--json") == 0
    assert json.loads(shell.out)["metrics"][0]["shuffler"] == "Mixnet, run by Example"
    assert shell("diff", "metrics.toml", "mixed.toml", "--check") == 0
    assert "text only (version 1) shuffler: none -> Mixnet, run by Example Devices are not asked" in shell.prose


def test_show_says_where_there_is_no_bound(shell: Shell) -> None:
    Path("metrics.toml").write_text(text(BOOLEAN | {"permanent_epsilon": "1", "changes_visible": "true"}), "utf-8")
    assert shell("show", "metrics.toml") == 0
    assert "any two histories, whole life no bound 100 %" in shell.prose
    assert shell("show", "metrics.toml", "--json") == 0
    assert json.loads(shell.out)["sums"]["life"] is None


def test_show_prints_json(shell: Shell) -> None:
    assert shell("show", "metrics.toml", "--json") == 0
    tree = json.loads(shell.out)
    assert tree["collection"] == "editor-desktop"
    assert tree["sums"] == pytest.approx(
        {"report": 2.0, "steady": 4.0, "change": 2.815212, "life": 514.103694}, abs=2e-6
    )
    minutes = {metric["metric"]: metric for metric in tree["metrics"]}["editor.minutes"]
    assert (minutes["integers"][0], minutes["reports"], minutes["segments"]) == (480, 364, [""])
    assert [(price["key"], price["epsilon"]) for price in minutes["prices"]][:2] == [("report", 1.0), ("steady", 2.0)]
    assert minutes["prices"][0]["odds"] == "73.2 %"


def test_diff(shell: Shell) -> None:
    assert shell("build") == 0
    Path("new.toml").write_text(text(MEAN | {"epsilon": "1.5"}), "utf-8")
    assert shell("diff", "metrics.lock", "new.toml") == 0
    assert "editor.minutes changed (version 1)" in shell.prose
    assert "asks for more: one report: epsilon 1.000 -> 1.500" in shell.prose
    assert '`registry build` will refuse it: metrics."editor.minutes".version = 1 is that of the lock' in shell.prose
    assert "editor.used removed (version 1)" in shell.prose
    assert shell.out.endswith("Devices are asked for more.\n")
    assert shell("diff", "metrics.lock", "new.toml", "--check") == 1
    assert shell("diff", "metrics.lock", "metrics.toml", "--check") == 0
    assert shell.prose.endswith("editor.used unchanged (version 1) Devices are not asked for more.")
    assert names() == ["metrics.lock", "metrics.toml", "new.toml"]


def test_diff_prints_json(shell: Shell) -> None:
    Path("new.toml").write_text(text(MEAN | {"epsilon": "1.5"}), "utf-8")
    assert shell("diff", "metrics.toml", "new.toml", "--json", "--check") == 1
    tree = json.loads(shell.out)
    assert tree["asks_for_more"] is True
    assert [(change["name"], change["status"]) for change in tree["changes"]] == [
        ("editor.minutes", "changed"),
        ("editor.used", "removed"),
    ]
    assert tree["changes"][0]["redraws"] is tree["changes"][0]["breaks"] is True
    assert tree["refusals"][0]["key"] == 'metrics."editor.minutes".version'


def test_lint_says_what_has_ended(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.cli.registry.today", lambda: datetime.date(2027, 11, 30))
    assert shell("lint") == 0
    assert shell.prose.count("warning: has ended on 2027-11-30 and measures nothing; renew it: ") == 2
    assert shell.out.startswith("metrics.toml: 2 metrics of editor-desktop, no errors, 2 warnings\n")


def test_lint_of_a_lock_asks_for_the_registry(shell: Shell) -> None:
    assert shell("build") == 0
    assert shell("lint", "metrics.lock") == 2
    assert "is a metrics.lock, not a metrics.toml\n    -> name the metrics.toml that it was built from" in shell.err


@pytest.mark.parametrize(
    ("today", "starts", "warned"),
    [
        ("2026-11-30", "2027-06-01", True),
        ("2026-11-30", "2026-12-01", False),
        ("2027-05-31", "2027-05-31", False),
        ("2027-05-30", "2027-05-31", True),
        ("2027-11-30", "2027-12-31", False),
    ],
)
def test_renew_says_where_nothing_is_measured(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, today: str, starts: str, warned: bool
) -> None:
    monkeypatch.setattr("hubbub.cli.registry.today", lambda: datetime.date.fromisoformat(today))
    assert shell("renew", "metrics.toml", "editor.minutes", "--expires", "2028-01-01", "--starts", starts) == 0
    warning = f"warning: a lock holds one version, so devices that get this one measure nothing before {starts}; "
    assert (warning + "version 1 would have gone on until 2027-11-30." in shell.prose) is warned
    assert ("warning" in shell.prose) is warned


def test_renew_then_build(shell: Shell) -> None:
    assert shell("build") == 0
    before = parse(Path("metrics.lock").read_bytes()).metrics
    assert shell("renew", "metrics.toml", "editor.minutes", "--expires", "2028-01-05") == 0
    assert "editor.minutes: version 1 -> 2, measured from 2026-12-01 to 2028-01-05 in metrics.toml" in shell.prose
    assert "permanent answers are kept, a device that never changes gives away nothing more" in shell.prose
    assert "Whole life of version 2: epsilon 282.389 (version 1: 257.052)." in shell.prose
    assert shell("build") == 0
    after = parse(Path("metrics.lock").read_bytes()).metrics
    assert after["editor.minutes"].hash == before["editor.minutes"].hash
    assert after["editor.used"] == before["editor.used"]
    assert "longer life: 364 -> 400 days" in shell.prose


def test_renew_of_few_reports_says_what_all_of_them_cost(shell: Shell) -> None:
    """One report of a permanent answer tells less than many do."""
    Path("metrics.toml").write_text(text(BOOLEAN | {"starts": "2026-12-01", "expires": "2026-12-02"}), "utf-8")
    assert shell("renew", "metrics.toml", "editor.minutes", "--expires", "2026-12-05", "--starts", "2026-12-02") == 0
    assert "a device that never changes gives away epsilon 2.000 at most in all." in shell.prose


def test_sums_are_those_of_the_prices_above_them(shell: Shell) -> None:
    both = (text(BOOLEAN), f'[metrics."editor.once"]\n{lines(BOOLEAN | {"expires": "2026-12-02"})}')
    Path("metrics.toml").write_text("\n".join(both), "utf-8")
    assert shell("show", "metrics.toml") == 0
    assert "a device that never changes 3.000 from even odds to 95.3 %" in shell.prose
    assert shell("show", "metrics.toml", "--json") == 0
    assert json.loads(shell.out)["sums"]["steady"] == 3


def test_renew_of_a_fresh_metric_promises_nothing(shell: Shell) -> None:
    Path("metrics.toml").write_text(text(BOOLEAN | {"strategy": '"fresh"'}), "utf-8")
    assert shell("renew", "metrics.toml", "editor.minutes", "--expires", "2028-11-30", "--starts", "2027-12-01") == 0
    assert "permanent answers are kept" not in shell.prose
    assert "Nothing is permanent here, so each report adds to the sum." in shell.prose


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("editor.minutes", "--expires", "2028-13-01"),
            "--expires must be a date such as 2027-11-30; got '2028-13-01'",
        ),
        (("editor.minutes", "--expires", "2028-11-01", "--starts", "soon"), "--starts must be a date"),
        (("editor.minutes", "--expires", "2028-01-01", "--starts", ""), "--starts must be a date"),
        (("editor.minutes", "--expires", "20280101"), "--expires must be a date such as 2027-11-30; got '20280101'"),
        (("editor.minutes", "--expires", "2028-W01-1"), "--expires must be a date such as"),
        (
            ("editor.minutes", "--starts", "9999-01-01", "--expires", "9999-12-31"),
            "expires = 9999-12-31\n    is not in the years 1970 to 9000",
        ),
        (("editor.minutes", "--expires", "2028-11-01"), "-> give --starts 2027-09-28 or later"),
        (("editor.minutes",), "missing option '--expires'"),
        (
            ("editor.hours", "--expires", "2028-01-01"),
            "there is no such metric\n    -> name one of its metrics, such as",
        ),
    ],
)
def test_renew_that_is_refused_leaves_the_file_alone(shell: Shell, words: tuple[str, ...], said: str) -> None:
    assert shell("renew", "metrics.toml", *words) == 2
    assert said in shell.err
    assert Path("metrics.toml").read_text("utf-8") == TWO
    assert names() == ["metrics.toml"]


def test_schema_is_printed(shell: Shell) -> None:
    assert shell("schema") == 0
    assert json.loads(shell.out) == schema()


def test_text_is_printed_as_it_is(shell: Shell) -> None:
    words = "[red]bold[/red] :smile: 100 % {0}"
    Path("metrics.toml").write_text(text(BOOLEAN | {"description": json.dumps(words)}), "utf-8")
    assert shell("show", "metrics.toml") == 0
    assert f"editor.minutes  {words}\n" in shell.out


def test_a_first_hour(shell: Shell) -> None:
    Path("metrics.toml").write_text(template("my-app", datetime.date(2026, 11, 30)), "utf-8")
    assert shell("lint") == 0
    assert "target ± 20 met" in shell.prose
    assert "missed" not in shell.out
    assert shell("build") == 0
    assert Path("metrics.lock").read_text("utf-8") == dump(build(load("metrics.toml")))
    assert shell("show") == 0
