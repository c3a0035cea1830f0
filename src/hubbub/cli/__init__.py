"""The command line. `main` runs it; what a command needs is imported when the command runs, so that help is quick.

Input that cannot be used ends in one message on stderr and exit code 2; only a fault of hubbub's own shows a traceback,
and no traceback shows the values of variables.
"""

import codecs
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from hubbub import __version__
from hubbub.cli.output import EXTRAS, complain, missing
from hubbub.errors import HubbubError

if TYPE_CHECKING:
    from typer import Context, Typer
    from typer.exceptions import TyperException

UNREAD, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit codes: nobody reads the output; input; Ctrl-C

_SPELT = {"±": "+-", "→": "->", "…": "...", "−": "-", "×": "x", "ε": "epsilon"}  # for terminals of ASCII
EXTRA_OF = {  # what a command needs; all others: cli
    **dict.fromkeys(("estimate", "export", "simulate"), "analysis"),
    **dict.fromkeys(("serve", "replay", "crowd"), "server"),
    "demo": "demo",
}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process.

    Args:
        arguments: Words after `hubbub`; those of the process by default.
    """
    codecs.register_error("hubbub", _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="hubbub")
    code = BAD_INPUT
    words = sys.argv[1:] if arguments is None else arguments
    try:
        code = _run(words)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except HubbubError as error:
        complain(str(error))
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        command = next((word for word in words if not word.startswith("-")), "")
        complain(missing(EXTRA_OF.get(command, extra)))
    except OSError as error:
        code = _complain_of(error)
    finally:
        code = _flush(code)
    raise SystemExit(code)


def _spell(error: UnicodeError) -> tuple[str, int]:
    """What a terminal shows that lacks a character: another way to write it, or a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_SPELT.get(character, "?") for character in lacking), error.end


def app() -> "Typer":
    """The Typer application with all its commands."""
    import typer

    from hubbub.cli import (
        crowd,
        demo,
        dossier,
        estimate,
        explain,
        export,
        init,
        ledger,
        mechanisms,
        registry,
        replay,
        report,
        serve,
        simulate,
    )

    hubbub = typer.Typer(
        help="Telemetry under local differential privacy: hear the crowd, never the person.",
        epilog="hubbub COMMAND --help tells more.",
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",  # joins the lines of a docstring's paragraphs
    )

    def version(wanted: bool) -> None:
        if wanted:
            print(f"hubbub {__version__}")
            raise typer.Exit

    @hubbub.callback()
    def options(
        version: bool = typer.Option(False, "--version", callback=version, is_eager=True, help="Print the version."),
    ) -> None:
        pass

    for panel, command, summary in (
        ("Define", init.init, "Write a commented metrics.toml to start from."),
        ("Define", explain.explain, "Say what metrics give away, in words and numbers."),
        ("Define", mechanisms.mechanisms, "List the mechanisms, their parameters and their accuracy."),
        ("Define", dossier.dossier, "Write what somebody who signs for metrics needs to know."),
        ("Define", dossier.notice, "Write what the people at the devices are to be told."),
        ("Collect", serve.serve, "Take reports over HTTP and keep them."),
        ("Collect", report.report, "Send one value from the shell, through the client that apps use."),
        ("Read", estimate.estimate, "Print estimates with their intervals."),
        ("Read", export.export, "Write estimates to a CSV or Parquet file."),
        ("Try", demo.demo, "See it all at work: two weeks of real flights."),
        ("Try", simulate.simulate, "Hold mechanisms' errors on drawn crowds against the exact ones."),
        ("Try", replay.replay, "The same with a table of your own."),
        ("Try", crowd.crowd, "Fill metrics of your own with pretend devices."),
    ):
        hubbub.command(rich_help_panel=panel, short_help=summary)(command)
    hubbub.add_typer(registry.app, name="registry", rich_help_panel="Define")
    hubbub.add_typer(ledger.app, name="ledger", rich_help_panel="Collect")
    return hubbub


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--version"]:  # known without any package
        print(f"hubbub {__version__}")
        return 0
    from typer.exceptions import Abort, TyperException
    from typer.main import get_command

    try:
        command = get_command(app())
        _untype_flags(command, None)
        code = command.main(list(arguments), prog_name="hubbub", standalone_mode=False)
    except Abort:
        return INTERRUPTED
    except TyperException as error:
        _complain_of_usage(error)
        return BAD_INPUT
    return code if isinstance(code, int) else 0


def _untype_flags(command: Any, parent: "Context | None") -> None:
    """Keep help from naming the type of flags, which take no value."""
    from typer import Context

    context = Context(command, parent=parent, **command.context_settings)
    for parameter in command.get_params(context):
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    for inner in getattr(command, "commands", {}).values():
        _untype_flags(inner, context)


def _complain_of_usage(error: "TyperException") -> None:
    """One line for words that the command line does not know; nothing where the help itself was the answer."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    if problems := getattr(error.__cause__, "errors", None):  # pydantic's, which know what was given
        message += f"; got {problems()[0]['input']!r}"
    if message:
        complain(_lower(message) + ("" if context is None else f" (see {context.command_path} --help)"))


def _complain_of(error: OSError) -> int:
    """One line for a file or a stream that does not do what it should; the exit code."""
    if isinstance(error, BrokenPipeError):
        return UNREAD
    name = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    complain(name + _lower(error.strerror or str(error) or type(error).__name__))
    return BAD_INPUT


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _flush(code: int) -> int:
    """Hand over what was printed; if nobody takes it, keep Python from complaining about it once more at its end."""
    try:
        print(end="", flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or _complain_of(error)
    return code
