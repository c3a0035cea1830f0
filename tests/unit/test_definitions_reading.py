"""metrics.toml as it is read: what is accepted; each bad input has its message and exit code 2, and writes nothing."""

import datetime
import json
import os
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from hubbub.definitions import Definition, DefinitionErrors, build, load, loads, read_lock, schema
from hubbub.definitions.keys import DOMAIN, KEYS, TOP
from hubbub.errors import LockError
from hubbub.lock import COLLECTION, NAME, Lock, Metric, dump
from tests.unit.definitions_bad_inputs import BAD, Bad
from tests.unit.definitions_support import BOOLEAN, MEAN, Shell, registry, text

ROOT = Path(__file__).parents[2]


def explained(bad: Bad) -> str:
    return re.sub(r"\W+", "-", " ".join(f"{key} {value}" for key, value in bad.changes.items()))[:60]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def refused(shell: Shell, content: str | bytes, *said: str) -> None:
    """Both lint and build refuse the file with these words, end with 2, and write nothing."""
    Path("metrics.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    before = Path("metrics.toml").read_bytes()
    for command in ("lint", "build"):
        assert shell(command, "metrics.toml") == 2
        assert shell.out == ""
        assert shell.err.startswith("hubbub: ")
        assert "Traceback" not in shell.err
        for words in ("metrics.toml", *said):
            assert words in shell.err
    assert [path.name for path in Path().iterdir()] == ["metrics.toml"]
    assert Path("metrics.toml").read_bytes() == before


@pytest.mark.parametrize("bad", BAD, ids=explained)
def test_bad_key_is_refused(shell: Shell, bad: Bad) -> None:
    changed = dict(MEAN) | bad.changes
    where = f'metrics."editor.minutes".{bad.key}'
    head = f" = {bad.value}" if bad.value else ""
    refused(shell, text(changed), where, head, bad.problem, bad.remedy)


@pytest.mark.parametrize("bad", BAD, ids=explained)
def test_one_fault_gives_one_problem(bad: Bad) -> None:
    with pytest.raises(DefinitionErrors) as caught:
        loads(text(dict(MEAN) | bad.changes).encode(), "metrics.toml")
    assert len(caught.value.problems) == 1, str(caught.value)


@pytest.mark.parametrize("bad", BAD, ids=explained)
def test_schema_refuses_what_one_key_can_tell(bad: Bad) -> None:
    tree = tomllib.loads(text(dict(MEAN) | bad.changes))
    valid = jsonschema.Draft202012Validator(schema()).is_valid(json.loads(json.dumps(tree, default=str)))
    assert valid is not bad.schema


@pytest.mark.parametrize("key", MEAN)
def test_duplicate_key_is_refused_with_its_line(shell: Shell, key: str) -> None:
    content = text(MEAN) + f"{key} = {MEAN[key]}\n"
    line = len(content.splitlines())
    refused(shell, content, f"line {line}: {key} = ", "stands twice", "remove one of the two")


def test_table_written_twice_is_refused(shell: Shell) -> None:
    again = f'\n[metrics."editor.minutes"]\n{"version = 2"}\n'
    refused(shell, text(MEAN) + again, 'line 17: [metrics."editor.minutes"]', "stands twice", "remove one of the two")


@pytest.mark.parametrize(
    ("top", "said"),
    [
        ({"schema": None}, ("schema\n", "is missing", 'write schema = "hubbub.registry/1"')),
        ({"schema": '"hubbub.registry/2"'}, ('schema = "hubbub.registry/2"', "another release")),
        ({"schema": None, "Schema": '"hubbub.registry/1"'}, ('Schema = "hub', "keys are in small letters: schema")),
        ({"collection": None}, ("collection\n", "is missing", 'collection = "editor-desktop"')),
        ({"collection": '"Editor"'}, ('collection = "Editor"', 'begins with "E", not with a letter of a-z')),
        ({"collection": '"1a"'}, ('collection = "1a"', 'begins with "1", not with a letter of a-z')),
        ({"collection": f'"{"e" * 65}"'}, ("has 65 characters, more than 64",)),
        ({"collection": '""'}, ('collection = ""', "is empty")),
        ({"collection": '"a b"'}, ('holds " " as character 2, which is none of a-z, 0-9, _ and -',)),
        ({"collection": "1"}, ("collection = 1", "is not an id of at most 64 characters")),
        ({"collection": '"еditor"'}, ("character 1 е is U+0435 CYRILLIC SMALL LETTER IE",)),
        ({"colection": '"a"'}, ('colection = "a"', "did you mean collection?")),
        ({"owner": '"a"'}, ('owner = "a"', "unknown key", "known are schema, collection, metrics")),
    ],
)
def test_bad_head_is_refused(shell: Shell, top: dict[str, str | None], said: tuple[str, ...]) -> None:
    refused(shell, text(MEAN, top), *said)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ('"' + "a" * 65 + '"', ("65 characters, more than 64", "shorter")),
        ('"editor.m\\u0456nutes"', ("character 9 і is U+0456 CYRILLIC SMALL LETTER BYELORUSSIAN",)),
        ('"editor.\\u200Bx"', ("character 8 is U+200B ZERO WIDTH SPACE",)),
        ('"cafe\\u0301"', ("character 5", "U+0301 COMBINING ACUTE ACCENT")),
        ("Editor", ("is not the form of a name", "editor would do")),
        ('"9lives"', ("is not the form of a name", "parts joined by dots")),
        ('"a..b"', ("is not the form of a name",)),
        ('"a.b\\n"', ("is not the form of a name",)),
        ('""', ("is not the form of a name",)),
        ("editor.minutes", ("a dot outside quotes", '[metrics."editor.minutes"]')),
    ],
)
def test_bad_name_is_refused(shell: Shell, name: str, said: tuple[str, ...]) -> None:
    refused(shell, text(MEAN, name=name), "metrics.", *said)


def test_keys_of_a_mean_are_refused_for_a_boolean(shell: Shell) -> None:
    changed = MEAN | {"kind": '"boolean"', "step": "2", "bucket": "4"}
    keys = [f'".{key} = ' for key in ("unit", "lower", "upper", "step", "bucket")]
    refused(shell, text(changed), "5 problems", *keys, "belongs to the kind mean", "remove upper")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ("3 problems", "schema", "collection", "the registry is empty", "hubbub init")),
        (text({}, name='"x"').split("\n[")[0].encode(), ("1 problem", "the registry is empty", "hubbub init")),
        (text(MEAN).split("\n[")[0].encode() + b"\nmetrics = 3\n", ("metrics = 3", "one table for each metric")),
        (text(MEAN).split("\n[")[0].encode() + b"\n[metrics]\na = 3\n", ('metrics."a" = 3', "is not a table")),
        (b"schema = hubbub\n", ("line 1, column 10: schema = hubbub", "is not TOML: Invalid value", "quotes")),
        (b'schema = "a\n', ("line 1", "is not TOML")),
        (b"a = 1\nb = [1,\n", ("is not TOML",)),
        (b"a = " + b"[" * 5000, ("is not TOML",)),
        (b"a = 1\nschema = \xff\n", ("line 2: byte 0xFF", "is not UTF-8", "save the file as UTF-8")),
        (text(MEAN).encode("utf-16"), ("line 1: byte 0xFF", "is not UTF-8")),
        (b"a = 2026-13-01\n", ("line 1", "is not TOML")),
        (b"a = " + b"9" * 5000, ("line 1: a = 999", "holds a number of thousands of digits")),
        (b"# 1\nb = 1\na = -" + b"9_9" * 5000, ("line 3: a = -9_9", "thousands of digits", "write a smaller number")),
        (b' {"schema": "hubbub.lock/1"}', ("is a metrics.lock, not a metrics.toml", "that it was built from")),
        (text(MEAN | {"version": f"0x{'f' * 5000}"}).encode(), ("version = 0xffff", "is not a whole number")),
        (text(MEAN | {"lower": "1e99999999999999999999"}).encode(), ("lower = inf", "is not a number in")),
        (text(MEAN | {"lower": "1e-99999999"}).encode(), ("lower = 1E-99999999", "99999999 decimals, more than 6")),
    ],
)
def test_file_that_is_no_registry_is_refused(shell: Shell, content: bytes, said: tuple[str, ...]) -> None:
    refused(shell, content, *said)


def test_missing_file_is_refused(shell: Shell, tmp_path: Path) -> None:
    for command in ("lint", "build", "show", "renew"):
        more = ["a", "--expires", "2027-01-01"] if command == "renew" else []
        assert shell(command, "metrics.toml", *more) == 2
        assert '1 problem in metrics.toml\n\n  file: "metrics.toml"\n    does not exist\n' in shell.err
    assert shell("lint", tmp_path) == 2
    assert "is not a file but a folder" in shell.err
    assert not list(tmp_path.iterdir())


def endless(path: Path) -> Path:
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("command", ["lint", "build", "show"])
def test_only_files_of_a_sensible_size_are_read(shell: Shell, command: str) -> None:
    assert shell(command, endless(Path("ff"))) == 2
    assert "1 problem in" in shell.err
    assert 'ff"\n    is not a file but a pipe\n    -> name a file that can be read' in shell.err
    assert shell(command, endless(Path("ff.lock"))) == 2
    assert "is not a file but a pipe" in shell.err
    assert shell(command, "/dev/zero") == 2
    assert "is not a file but a device" in shell.err
    for name in ("large.toml", "large.lock"):
        with Path(name).open("wb") as file:
            file.truncate((4 << 20) + 1)
        assert shell(command, name) == 2
        assert "is larger than 4 MiB" in shell.err


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    path, content = tmp_path / "metrics.toml", text(MEAN)
    path.write_text(content + "#" * ((4 << 20) - len(content)), "utf-8")
    assert load(path).metrics == registry().metrics


def test_a_lock_is_not_written_to_a_pipe(shell: Shell, tmp_path: Path) -> None:
    Path("metrics.toml").write_text(text(MEAN), "utf-8")
    assert shell("build", "metrics.toml", "--lock", endless(Path("ff"))) == 2
    assert "is not a file but a pipe" in shell.err


def test_a_registry_is_not_taken_for_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "app.lock"
    path.write_text(text(MEAN), "utf-8")
    with pytest.raises(LockError) as caught:
        read_lock(path)
    said = "is a metrics.toml, not a metrics.lock; build it: hubbub registry build"
    assert str(caught.value) == f"{path}: {said}"
    path.write_text("x = 1", "utf-8")
    with pytest.raises(LockError, match="not JSON"):
        read_lock(path)


def test_all_problems_are_shown_together(shell: Shell) -> None:
    changed = MEAN | {"version": "0", "epsilon": None, "upper": '"x"', "expires": "2026-11-30", "Grace": '"1d"'}
    other = '\n[metrics."editor.used"]\nkind = "boolean"\n'
    refused(shell, text(changed, {"collection": '"E"'}) + other, "13 problems in metrics.toml")
    assert shell.err.count("\n    -> ") == 13
    assert shell("lint", "metrics.toml", "--json") == 2
    problems = json.loads(shell.out)["problems"]
    assert [set(problem) for problem in problems] == [{"key", "value", "problem", "remedy"}] * 13
    assert {"collection", 'metrics."editor.minutes".epsilon', 'metrics."editor.used".version'} <= {
        p["key"] for p in problems
    }


def test_defaults() -> None:
    definition = loads(text(BOOLEAN).encode(), "metrics.toml").metrics["editor.minutes"]
    assert definition == Definition(
        version=1,
        kind="boolean",
        description="Whether search was used",
        purpose="Decide where it stands",
        owners=["telemetry@example.org"],
        epsilon=1.0,
        starts=datetime.date(2026, 12, 1),
        expires=datetime.date(2027, 11, 30),
    )
    assert (definition.step, definition.strategy, definition.window, definition.grace) == (1, "memo", "day", "14d")
    assert (definition.report_every, definition.presence, definition.seal) == (1, "ran", "window_end")
    assert (definition.min_reports, definition.unit, definition.dimensions) == (100, "", {})
    assert definition.expected_devices is definition.target_margin is definition.bucket is None


@pytest.mark.parametrize(
    ("changes", "permanent"),
    [
        ({"epsilon": "1"}, 2.0),
        ({"epsilon": "0.6"}, 1.2),
        ({"epsilon": "0.1"}, 1.2),
        ({"epsilon": "0.61"}, 1.22),
        ({"epsilon": "15"}, 16.0),
        ({"permanent_epsilon": "3"}, 3.0),
        ({"permanent_epsilon": "1", "changes_visible": "true"}, 1.0),
        ({"strategy": '"fresh"'}, None),
    ],
)
def test_permanent_epsilon(changes: dict[str, str], permanent: float | None) -> None:
    assert registry(**changes).metrics["editor.minutes"].permanent == permanent


def test_at_the_edges_all_is_accepted() -> None:
    name = "a" * 64
    cells = f"{{ a = {[str(i) for i in range(8)]}, b = {[str(i) for i in range(8)]} }}"
    edges = {"expires": "2028-01-05", "dimensions": cells, "grace": '"90d"', "upper": "479.000001", "step": "0.000001"}
    found = loads(text(MEAN | edges | {"bucket": "116944"}, name=f'"{name}"').encode(), "metrics.toml")
    assert list(found.metrics) == [name]
    registry(upper="429_496_729.5", step="0.1", grace='"1h"')
    with pytest.raises(DefinitionErrors, match="4294967296 steps, more than 4294967295"):
        registry(upper="429_496_729.6", step="0.1")
    assert registry(target_margin="240").metrics["editor.minutes"].target_margin == 240


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_byte_order_mark(end: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.toml"
    path.write_bytes(b"\xef\xbb\xbf" + text(MEAN).replace("\n", end).encode())
    assert load(path).metrics == registry().metrics


def test_committed_schema_is_the_generated_one() -> None:
    committed = json.loads((ROOT / "spec" / "schemas" / "registry.json").read_text(encoding="utf-8"))
    assert committed == schema(), "run: hubbub registry schema > spec/schemas/registry.json"


def test_schema_accepts_what_is_accepted() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    for metric in (MEAN, BOOLEAN):
        tree = tomllib.loads(text(metric))
        jsonschema.validate(json.loads(json.dumps(tree, default=str)), schema(), jsonschema.Draft202012Validator)


def test_forms_are_those_of_the_lock() -> None:
    for name in ("a", "a.b", "a_1.b2", "A", "a..b", ".a", "a.", "1a", "a-b", "ä", "a" * 64, "a" * 65):
        known = re.fullmatch(schema()["$defs"]["Document"]["properties"]["metrics"]["propertyNames"]["pattern"], name)
        assert bool(known and len(name) <= 64) is bool(NAME.fullmatch(name))
    assert TOP["collection"].meta.pattern == f"^{COLLECTION.pattern}$"


def test_each_key_has_its_meaning_and_its_remedy() -> None:
    assert set(DOMAIN) <= set(KEYS)
    for key in (*KEYS.values(), *TOP.values()):
        assert key.remedy
        assert key.expected
        assert key.meta.description


@pytest.mark.parametrize("command", ["show", "diff"])
def test_lock_that_cannot_be_believed_is_refused(shell: Shell, command: str, lock: Lock) -> None:
    more = ["metrics.lock"] if command == "diff" else []
    good = dump(lock)
    for old, new, said in (
        ("hubbub.lock/1", "hubbub.lock/2", ("schema", "'hubbub.lock/2' is not 'hubbub.lock/1'", "a release that fits")),
        ('"lower": 0', '"lower": 1', ('metrics."editor.minutes".hash', "was edited after it was built")),
        ('"report": 1.0', '"report": 0.5', ('metrics."editor.minutes".prices.report', "0.5 is not the 1.0")),
        ('"unit"', '"units"', ('metrics."editor.minutes".units', "unknown key")),
        ("}", "", ("not JSON",)),
    ):
        assert old in good
        Path("metrics.lock").write_text(good.replace(old, new, 1), "utf-8")
        assert shell(command, "metrics.lock", *more) == 2
        for words in ("hubbub: metrics.lock: ", *said):
            assert words in shell.err
        assert "Traceback" not in shell.err
    Path("metrics.lock").write_bytes(b"{\xff}")
    assert shell(command, "metrics.lock", *more) == 2
    assert "hubbub: metrics.lock: is not UTF-8" in shell.err


@pytest.fixture
def lock() -> Lock:
    made = build(registry())
    assert isinstance(made.metrics["editor.minutes"], Metric)
    return made
