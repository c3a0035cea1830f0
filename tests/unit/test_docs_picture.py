"""The picture of the demo: drawn from its rows alone, the same each time, small, and nothing in it but itself."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from docs.scripts import picture

SCRIPT = Path(picture.__file__)
MAX_BYTES = 60_000


def demo(width: float = 0.08) -> list[dict[str, Any]]:
    """Rows as the demo prints them: 14 days of three metrics, and one that the picture leaves out."""
    rows = []
    for name, top, half in (
        (picture.LATE, 1.0, width),
        (picture.MINUTES, 300.0, 60.0),
        (picture.CROWD, 300.0, 12.0),
        ("flight.delay", 60.0, 9.0),
    ):
        for day in range(12, 26):
            truth = top * (0.3 + 0.3 * (day % 3) / 2)
            rows.append(
                {
                    "metric": name,
                    "window": f"2013-06-{day}T00:00:00Z",
                    "truth": truth,
                    "truth_clipped": truth,
                    "estimate": truth + half / 3,
                    "ci_low": truth - half,
                    "ci_high": truth + half,
                    "n": 700,
                    "state": "final",
                }
            )
    return rows


def saved(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "demo.json"
    path.write_text(json.dumps(rows), "utf-8")
    return path


def test_it_is_drawn_from_the_rows_alone(tmp_path: Path) -> None:
    rows = picture.read(saved(tmp_path, demo()))
    first, again = picture.draw(rows), picture.draw(rows)
    assert first == again
    assert sorted(first) == ["dark", "light"]
    assert first["dark"] != first["light"]
    assert picture.draw(picture.read(saved(tmp_path, demo(width=0.2))))["light"] != first["light"]


@pytest.mark.parametrize("theme", sorted(picture.THEMES))
def test_what_is_committed_is_such_a_picture(theme: str, tmp_path: Path) -> None:
    committed = (picture.PICTURES / f"demo-{theme}.svg").read_text("utf-8")
    drawn = picture.draw(picture.read(saved(tmp_path, demo())))[theme]
    assert words(committed) == words(drawn)
    assert any("PRETEND" in word for word in words(committed))
    assert len(committed.encode()) < MAX_BYTES
    elsewhere = re.sub(r'xmlns(:xlink)?="[^"]*"', "", committed)
    assert not re.search(r"https?:|<script|<image|url\(|@font-face", elsewhere)


def words(svg: str) -> list[str]:
    """What the picture says, any number being as good as another, without those at the axes."""
    texts = [
        "".join(element.itertext()) for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")
    ]
    return sorted(re.sub(r"\d+", "0", text) for text in texts if not re.fullmatch(r"[-−0-9 %]+", text))


@pytest.mark.parametrize("wrong", ["[]", "no JSON", '[{"metric": 1}]', "{}"])
def test_other_input_is_refused(wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    path.write_text(wrong, "utf-8")
    command = [sys.executable, str(SCRIPT), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"picture: {path}: ")
    assert "Traceback" not in done.stderr


def test_a_day_without_an_interval_is_refused(tmp_path: Path) -> None:
    rows = demo()
    rows[3] |= {"estimate": None, "ci_low": None, "ci_high": None}
    with pytest.raises(ValueError, match=r"no interval for every day of flight\.late$"):
        picture.read(saved(tmp_path, rows))
