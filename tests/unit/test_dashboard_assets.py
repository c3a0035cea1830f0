"""Files beside the pages: their names, how long they are kept, and the program that draws charts."""

import asyncio
import base64
import gzip
import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.types import ASGIApp, Message, Scope

from hubbub.clock import ManualClock
from hubbub.dashboard import bundle, create_app
from hubbub.dashboard.assets import Assets
from hubbub.store import open_store
from tests.unit.browsing import Page, page
from tests.unit.collecting import FIRST, end, late, lock, stored

PROGRAM = b"window.vegaEmbed = () => {};"


class File(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes


def get(app: ASGIApp, path: str, **headers: str) -> File:
    async def ask() -> File:
        raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope: Scope = {"type": "http", "method": "GET", "path": path, "headers": raw, "query_string": b""}
        messages: list[Message] = []

        async def receive() -> Message:
            await asyncio.Event().wait()  # nobody hangs up
            raise AssertionError

        async def send(message: Message) -> None:
            messages.append(message)

        await app(scope, receive, send)
        fields = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
        return File(messages[0]["status"], fields, b"".join(part["body"] for part in messages[1:]))

    return asyncio.run(ask())


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "hubbub" / f"vega-{bundle.vega_version()}.js.gz"


@pytest.fixture
def app(tmp_path: Path, kept: Path) -> Iterator[ASGIApp]:
    """An application with one metric."""
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(late()))
        store.write(stored(late(), 200, ones=70))
        yield create_app(store, clock=ManualClock(end(FIRST)))


def shown(app: ASGIApp) -> Page:
    return page(app, "/m/flight.late")


def program(app: ASGIApp) -> bytes | None:
    """The program as the page of a metric loads it: under a name of its content, which the page names as well."""
    found = [script for script in shown(app).all("script") if "/vega-" in script.get("src", "")]
    if not found:
        return None
    content = get(app, found[0]["src"]).content
    assert found[0]["integrity"] == named(content)
    assert hashlib.sha256(content).hexdigest()[:16] in found[0]["src"]
    return content


def named(content: bytes) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often the program was made."""
    times: list[int] = []

    def make() -> bytes:
        times.append(1)
        return PROGRAM

    monkeypatch.setattr(bundle, "_made", make)
    return times


@pytest.mark.parametrize("name", ["base.css", "media.css", "chart.js", "renew.js", "icon.svg"])
def test_files_are_kept_for_ever_under_a_name_of_their_content(app: ASGIApp, name: str) -> None:
    url = Assets().url(name)
    plain, packed = get(app, url), get(app, url, accept_encoding="br, gzip")
    assert plain.status == packed.status == 200
    assert "immutable" in plain.headers["cache-control"]
    assert plain.headers["vary"] == "accept-encoding"
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    source = Path(bundle.__file__).parent / "static" / name
    assert plain.content == source.read_bytes()
    assert plain.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("GZip;q=0.5, br", True),
        ("br,gzip ; q=1.0", True),
        ("gzip;q=0", False),
        ("br, gzip;q=0.000, identity", False),
        ("xgzip, gzip2", False),
        ("", False),
    ],
)
def test_packed_only_for_who_takes_it(app: ASGIApp, accepted: str, packed: bool) -> None:
    headers = get(app, Assets().url("base.css"), accept_encoding=accepted).headers
    assert (headers.get("content-encoding") == "gzip") == packed


def test_pages_name_the_content_of_all_they_load(tmp_path: Path, kept: Path, made: list[int]) -> None:
    with open_store(tmp_path / "store.db", dev=True) as store:
        store.accept(lock(late()))
        store.write(stored(late(), 200, ones=70))
        app = create_app(store, clock=ManualClock(end(FIRST)))
        for path, scripts in (("/", 1), ("/m/flight.late", 3)):
            found = page(app, path)
            loaded = {script["src"]: script for script in found.all("script") if "src" in script}
            sheets = {sheet["href"]: sheet for sheet in found.all("link", rel="stylesheet")}
            assert (len(loaded), len(sheets)) == (scripts, 5)
            for url, element in (loaded | sheets).items():
                assert element["integrity"] == named(get(app, url).content)


@pytest.mark.parametrize("path", ["/assets/base.css", "/assets/", "/assets/../app.py", "/assets/vega.js"])
def test_other_files_are_not_there(app: ASGIApp, path: str) -> None:
    assert get(app, path).status == 404


def test_the_program_is_made_once_and_kept(app: ASGIApp, tmp_path: Path, kept: Path, made: list[int]) -> None:
    before = os.umask(0o002)
    try:
        for _ in range(2):
            assert program(app) == PROGRAM
    finally:
        os.umask(before)
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    with open_store(tmp_path / "store.db", read_only=True) as store:
        assert program(create_app(store, clock=ManualClock(end(FIRST)))) == PROGRAM
    assert len(made) == 1


def test_it_is_not_made_for_pages_without_a_chart(app: ASGIApp, made: list[int]) -> None:
    page(app, "/")
    assert not made


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"no gzip",
        gzip.compress(PROGRAM)[:-9],
        gzip.compress(PROGRAM)[:-1] + b"\xff",
        gzip.compress(PROGRAM) + b"more",
        gzip.compress(b"another program"),
        gzip.compress(PROGRAM + bytes(bundle._LARGEST)),
    ],
    ids=["empty", "no gzip", "cut", "wrong sum", "longer", "another", "too large"],  # packed bytes hold the time
)
def test_a_damaged_copy_is_made_again(app: ASGIApp, kept: Path, made: list[int], damage: bytes) -> None:
    kept.parent.mkdir(parents=True)
    kept.write_bytes(damage)
    assert program(app) == PROGRAM
    assert gzip.decompress(kept.read_bytes()) == PROGRAM
    assert len(made) == 1


def test_what_others_could_have_written_is_not_taken(
    app: ASGIApp, tmp_path: Path, kept: Path, made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = gzip.compress(b"alert(1)//vegaEmbed")
    kept.parent.mkdir(parents=True)

    def refused() -> bool:
        return bundle._kept(kept) is None

    kept.write_bytes(foreign)
    kept.chmod(0o644)
    assert not refused()
    for mode in (0o664, 0o646):
        kept.chmod(mode)
        assert refused()
    kept.chmod(0o644)
    with monkeypatch.context() as other:
        other.setattr("hubbub.dashboard.bundle.os.geteuid", lambda: kept.stat().st_uid + 1)
        assert refused()
    kept.unlink()
    os.mkfifo(kept)
    assert refused()  # and nobody waits for its other end
    kept.unlink()
    (tmp_path / "mine").write_bytes(foreign)
    kept.symlink_to(tmp_path / "mine")
    assert refused()
    assert program(app) == PROGRAM
    assert not kept.is_symlink()
    assert (tmp_path / "mine").read_bytes() == foreign


def test_without_a_cache_it_is_kept_in_memory(
    tmp_path: Path, app: ASGIApp, made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for _ in range(2):
        assert program(app) == PROGRAM
    assert len(made) == 1


@pytest.mark.parametrize("code", ["import sys; sys.exit(3)", "print('something else')", "import no_such_module"])
def test_a_program_that_cannot_be_made_is_said_once_and_charts_are_plain(
    app: ASGIApp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, code: str
) -> None:
    monkeypatch.setattr(bundle, "_PROGRAM", code)
    for _ in range(2):
        assert program(app) is None
    (told,) = caplog.messages
    assert told.startswith("hubbub: the charts' program cannot be made: vl-convert ended with ")
    assert told.endswith("; charts are plain")


def test_the_read_process_does_not_load_what_makes_it(tmp_path: Path) -> None:
    code = f"""
import sys
from hubbub.dashboard.bundle import Bundle
assert b"vegaEmbed" in __import__("gzip").decompress(Bundle("vega-test").packed())
assert "vl_convert" not in sys.modules
print(sorted(path.name for path in __import__("pathlib").Path({str(tmp_path)!r}).rglob("*.gz")))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"XDG_CACHE_HOME": str(tmp_path)}, check=True
    )
    assert done.stdout == "['vega-test.js.gz']\n"
    assert len(list((tmp_path / "hubbub").iterdir())) == 1
