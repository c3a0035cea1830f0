"""Pictures of every page of every seed, to be looked at: python -m tests.e2e.browser.pictures FOLDER [SEED...]."""

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.e2e.browser import seeds
from tests.e2e.browser.looking import NARROW, SCHEMES, WIDE, Look, started
from tests.e2e.browser.sites import dashboard


def main(arguments: Sequence[str] | None = None) -> None:
    """One file per page, scheme and width; faults are printed beside its name."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.browser.pictures", description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="made if it is not there")
    parser.add_argument("seeds", metavar="SEED", nargs="*", help=f"of {', '.join(seeds.SEEDS)}; all by default")
    asked = parser.parse_args(arguments)
    if unknown := sorted(set(asked.seeds) - set(seeds.SEEDS)):
        parser.error(f"no such seed: {', '.join(unknown)}")
    draw(asked.folder, asked.seeds or list(seeds.SEEDS))


def draw(folder: Path, names: Sequence[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stores = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        look = stack.enter_context(Look(stack.enter_context(started())))
        for name in names:
            site = stack.enter_context(dashboard(seeds.make(name, stores)))
            for path in site.pages:
                for scheme in SCHEMES:
                    for width in (NARROW, WIDE):
                        page = look.open(site.url + path, scheme=scheme, width=width)
                        file = folder / f"{name}{path.replace('/', '-')}-{scheme}-{width}.png"
                        page.screenshot(path=file, full_page=True)
                        print(file, *look.faults(), sep="\n    ", flush=True)


if __name__ == "__main__":
    main()
