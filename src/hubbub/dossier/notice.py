"""The notice: what a lock means for the people at the devices, and the facts that stores' forms ask for."""

import math
from collections.abc import Iterator, Mapping

from hubbub.client.charges import per_day, whole
from hubbub.dossier.text import bullets, document, plain, table
from hubbub.dossier.wordings import CHINESE, ENGLISH, Wording
from hubbub.errors import ParameterError
from hubbub.lock import Lock, Metric
from hubbub.privacy import percent
from hubbub.privacy.words import CERTAIN

_WORDINGS: Mapping[str, Wording] = {"en": ENGLISH, "zh": CHINESE}
_RECOGNISED = 1.0  # bits from which on the notice says so
LANGUAGES = tuple(_WORDINGS)


def notice(lock: Lock, language: str = "en") -> str:
    """Markdown for end users; descriptions and purposes stay in the language of the lock.

    Args:
        lock: What the app ships.
        language: One of `LANGUAGES`.

    Raises:
        ParameterError: Another language.
    """
    if language not in _WORDINGS:
        raise ParameterError("language", language, "one of " + ", ".join(LANGUAGES))
    words = _WORDINGS[language]
    metrics = [lock.metrics[name] for name in sorted(lock.metrics)]
    return document(
        [
            "# " + words.title.format(collection=plain(lock.collection)),
            f"## {words.what}",
            words.lead,
            bullets(_measured(metric, words) for metric in metrics),
            *_named(words.owners, sorted({owner for metric in metrics for owner in metric.owners}), words),
            f"## {words.how}",
            *words.disguise,
            *_named(words.hidden, [metric.name for metric in metrics if metric.presence == "hidden"], words),
            f"## {words.price}",
            bullets(_sums(lock, words)),
            f"## {words.seen}",
            bullets([*_visible(metrics, words), *words.open]),
            f"## {words.choice}",
            *words.choices,
            f"## {words.form}",
            words.form_lead,
            table((words.question, words.fact), words.forms),
        ]
    )


def _measured(metric: Metric, words: Wording) -> str:
    line = words.metric.format(
        description=plain(metric.description.rstrip(".。")),
        purpose=plain(metric.purpose.rstrip(".。")),
        name=plain(metric.name),
        window=words.windows[metric.window],
        turns=words.turns.format(every=metric.report_every) if metric.report_every > 1 else "",
        starts=metric.starts,
        expires=metric.expires,
    )
    if not metric.dimensions:
        return line
    names = [words.inside.format(name=name, values=words.between.join(values)) for name, values in metric.dimensions]
    return line + "".join(_named(words.clear, names, words))


def _visible(metrics: list[Metric], words: Wording) -> Iterator[str]:
    turns = {metric.name: metric.report_every for metric in metrics}
    kept = {metric.name: round(2**metric.encoder.public_bits) for metric in metrics}
    yield from _named(words.ran, [metric.name for metric in metrics if metric.presence == "ran"], words)
    yield from _named(words.turn, _counted(turns, words), words)
    yield from _named(words.public, _counted(kept, words), words)
    yield from _named(words.told, [metric.name for metric in metrics if _tied(metric) >= _RECOGNISED], words)


def _counted(counts: Mapping[str, int], words: Wording) -> list[str]:
    """Names with their counts, those beyond 1."""
    return [words.inside.format(name=name, values=count) for name, count in counts.items() if count > 1]


def _named(sentence: str, names: list[str], words: Wording) -> list[str]:
    """The sentence about these names; nothing where there are none."""
    return [sentence.format(names=plain(words.between.join(names)))] if names else []


def _tied(metric: Metric) -> float:
    """Bits that a report tells about the device's next."""
    return metric.encoder.public_bits + metric.encoder.linkage_bits


def _sums(lock: Lock, words: Wording) -> Iterator[str]:
    """How sure somebody can become, at most: by the dearest report, and by sums over metrics."""
    charges = {name: whole(metric) for name, metric in lock.metrics.items()}
    years: dict[int, float] = {}
    for one in charges.values():
        for year, life in one.life_by_year.items():
            years[year] = years.get(year, 0.0) + life
    losses = {
        "report": max((one.prices.report for one in charges.values()), default=0.0),
        "day": math.fsum(per_day(charges).values()),
        "steady": math.fsum(one.prices.steady for one in charges.values()),
        "life": max(years.values(), default=0.0),
    }
    told = {key: _sure(loss, words) for key, loss in losses.items()}
    yield from (line.format(**told) for line in words.prices)
    if losses["life"] > CERTAIN:
        yield words.worst


def _sure(loss: float, words: Wording) -> str:
    if math.isinf(loss):
        return words.no_bound
    return words.certain if loss > CERTAIN else words.sure.format(percent=percent(loss).removesuffix(" %"))
