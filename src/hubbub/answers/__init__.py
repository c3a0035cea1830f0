"""Answers for analysts: the same from a store file and from a collector's read listener.

    import hubbub

    with hubbub.open("store.db") as answers:
        frame = answers.estimates("editor.minutes", start="2026-12-01", end="2026-12-08")
        week = answers.mean("editor.minutes", start="2026-12-01", end="2026-12-08")

`hubbub.answers.frames` makes tables of them and needs pandas; nothing else here does.
"""

from hubbub.answers.sources import AnswersError, Source, Span, source, span

__all__ = ["AnswersError", "Source", "Span", "source", "span"]
