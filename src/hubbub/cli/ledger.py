"""`hubbub ledger`: what one installation gave away, for the person who owns the device. It reads and writes nothing.

`python -m hubbub.client` prints the same where only the standard library is.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hubbub.lock import Lock

app = typer.Typer(no_args_is_help=True, help="See what a device told, what waits, and what would become of a value.")
State = Annotated[Path, typer.Option(metavar="DIR", help="The state folder of the program (state_dir).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command(short_help="What was sent, what it gives away, what may follow.")
def show(
    state: State,
    lock: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The metrics.lock or .toml of the program, to say what is measured."),
    ] = None,
    waiting: Annotated[bool, typer.Option("--waiting", help="Print the bytes of each report that waits.")] = False,
    json: Json = False,
) -> None:
    """Say what an installation sent, what that gives away, what may follow, what waits, and how to stop it.

    It may be run while the program runs. Neither the secret nor a recorded value is shown.
    """
    from hubbub.client.__main__ import ledger

    print(ledger(state, None if lock is None else _definitions(lock), bodies=waiting, as_json=json))


@app.command(short_help="What would become of a value.")
def preview(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A metric of the lock.")],
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="A number, numbers such as 0.5,-1, a label, or yes or no.")
    ],
    state: State,
    lock: Annotated[Path, typer.Option(metavar="FILE", help="The metrics.lock or .toml of the program.")],
    json: Json = False,
) -> None:
    """Show what a value would become: clipped, the permanent answer, the bytes, and how often others send the same.

    Nothing is recorded or sent. A negative number goes after `--`.
    """
    from hubbub.client.__main__ import preview as previewed

    print(previewed(state, _definitions(lock), name, value, as_json=json))


def _definitions(path: Path) -> "Path | Lock":
    """What a metrics.toml would be built to; a lock is read by the client itself."""
    from hubbub.definitions import read

    return read(path) if path.suffix == ".toml" else path
