"""Telemetry under local differential privacy: hear the crowd, never the person.

Each device disguises its own answer before anything leaves it; from enough disguised answers the collector
recovers means and shares, each with an honest interval and its privacy price beside it.

Importing this package loads nothing else; `open` does when it is called. What a device runs is in ``hubbub.client`` and
needs only the standard library; the other half (``hubbub.mechanisms``, ``hubbub.collector``, ``hubbub.cli``) comes with
the extras.
"""

TYPE_CHECKING = False  # that of `typing`, which is not loaded for it
if TYPE_CHECKING:
    import os

    from hubbub.answers.frames import Answers
    from hubbub.clock import Clock

__version__ = "0.1.0.dev0"


def open(path_or_url: "str | os.PathLike[str]", *, clock: "Clock | None" = None) -> "Answers":
    """Estimates as pandas tables: of a store file, or of the read listener of `hubbub serve` at an address.

    Args:
        path_or_url: The SQLite file of a collector, which may run meanwhile, or the address that `hubbub serve` prints
            after "reading on". Plain http goes to this machine alone.
        clock: What decides which windows of a file are open or final; the machine's by default.

    Raises:
        ModuleNotFoundError: Only the device's half is installed.
        ParameterError: Another kind of address.
        StoreError: The file is no store, or cannot be read.
    """
    try:
        from hubbub.answers import source
        from hubbub.answers.frames import Answers
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "hubbub":
            raise
        needs = "hubbub.open needs more packages: pip install 'hubbub[analysis]'"
        raise ModuleNotFoundError(needs, name=error.name) from None
    return Answers(source(path_or_url, clock=clock))
