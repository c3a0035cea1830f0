"""The notice: what a lock means for the people at the devices, and the facts that stores' forms ask for."""

import math
from collections.abc import Iterator, Mapping

from hubbub.client.charges import per_day, whole
from hubbub.dossier.sharing import linkage, shufflers
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
            table((words.question, words.fact), _forms(metrics, words)),
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
    return line + "".join(_named(words.clear, _facts(metric, words), words))


def _visible(metrics: list[Metric], words: Wording) -> Iterator[str]:
    yield from _named(words.ran, [metric.name for metric in metrics if metric.presence == "ran"], words)
    yield from _named(words.turn, _turns(metrics, words), words)
    yield from _named(words.public, _numbers(metrics, words), words)
    yield from _named(words.told, _told(metrics), words)
    yield from _named(words.mixed, _shufflers(metrics, words), words)


def _forms(metrics: list[Metric], words: Wording) -> Iterator[tuple[str, str]]:
    """The questions of the stores' forms with what is true of these metrics."""
    told = _told(metrics)
    facts = list(dict.fromkeys(fact for metric in metrics for fact in _facts(metric, words)))
    filled = {
        "clear": "".join(_named(words.form_clear, facts, words)),
        "number": "".join(_named(words.form_number, _numbers(metrics, words), words)),
        "turn": "".join(_named(words.form_turn, _turns(metrics, words), words)),
        "apart": "".join(_named(words.form_apart, told, words)),
        "alike": "" if told else words.form_alike,
        "mixed": "".join(_named(words.form_mixed, _shufflers(metrics, words), words)),
        "kept": words.form_kept if any(metric.shuffler for metric in metrics) else "",
    }
    yield from ((question, fact.format(**filled)) for question, fact in words.forms)


def _facts(metric: Metric, words: Wording) -> list[str]:
    """What is sent as it is, each with its values."""
    return [words.inside.format(name=name, values=words.between.join(values)) for name, values in metric.dimensions]


def _turns(metrics: list[Metric], words: Wording) -> list[str]:
    return _counted({metric.name: metric.report_every for metric in metrics}, words)


def _numbers(metrics: list[Metric], words: Wording) -> list[str]:
    return _counted({metric.name: round(2**metric.encoder.public_bits) for metric in metrics}, words)


def _counted(counts: Mapping[str, int], words: Wording) -> list[str]:
    """Names with their counts, those beyond 1."""
    return [words.inside.format(name=name, values=count) for name, count in counts.items() if count > 1]


def _named(sentence: str, names: list[str], words: Wording) -> list[str]:
    """The sentence about these names; nothing where there are none."""
    return [sentence.format(names=plain(words.between.join(names)))] if names else []


def _told(metrics: list[Metric]) -> list[str]:
    """Those whose reports tell so much about the device's next that the notice says so."""
    return [metric.name for metric in metrics if sum(linkage(metric)) >= _RECOGNISED]


def _shufflers(metrics: list[Metric], words: Wording) -> list[str]:
    """Who handles reports on the way, as declared, each with the metrics."""
    return [words.inside.format(name=who, values=words.between.join(of)) for who, of in shufflers(metrics).items()]


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
