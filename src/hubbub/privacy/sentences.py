"""The sentences that the command line, dashboards and documents show about a metric: its prices, and what stays open.

Each statement is one that spec/prices.md proves, or names something that hubbub does not protect.
"""

import math

from hubbub.errors import ParameterError
from hubbub.lock import NONE, Metric
from hubbub.privacy.pairs import both, partner
from hubbub.privacy.pictures import MOVES, pictures
from hubbub.privacy.precision import OTHERWISE, compared
from hubbub.privacy.prices import keeps, of_life
from hubbub.privacy.words import CERTAIN, a, cost, in_bits, in_words, nats, plural

_ROOM = 80  # characters for the names of dimensions inside a sentence


def explain(metric: Metric, other: Metric | None = None) -> list[str]:
    """Sentences of less than 200 characters: what is sent, the four prices, whose they are, what is not protected.

    Args:
        metric: Of a lock.
        other: The other one of NAME and NAME.active, if the lock has both (`partner`); adds what both cost together.

    Raises:
        ParameterError: `other` is not that one.
    """
    return [sentence for sentences in sections(metric, other).values() for sentence in sentences]


def sections(metric: Metric, other: Metric | None = None) -> dict[str, list[str]]:
    """The sentences of `explain` under headings, in the same order; headings with nothing under them are left out."""
    if other is not None and partner(metric, {one.name: one for one in (metric, other)}) != other:
        raise ParameterError("other", other.name, f"the metric that shares its events with {metric.name}, or None")
    together = [] if other is None else both(metric, other)
    every = {
        "What is sent": _sent(metric),
        "What it costs": _same(metric) + _changing(metric) + pictures(metric) + together,
        OTHERWISE: compared(metric) or _uncompared(metric),
        "Whose prices these are": _whose(metric),
        "What is not hidden": _seen(metric),
        "What is not protected": _open(metric),
    }
    return {heading: sentences for heading, sentences in every.items() if sentences}


def _sent(metric: Metric) -> list[str]:
    bits = sum((radix - 1).bit_length() for radix in metric.encoder.radices)
    window, every = metric.window, metric.report_every
    size = "one bit" if bits == 1 else f"{bits} bits"
    which = " in which the program ran" if metric.presence == "ran" else ""
    if every > 1:
        which = f"{which} and it is the installation's turn" if which else " at its turn"
    lines = [
        f"Each installation sends {size} for every {window}{which}, drawn at random on the device so that any value "
        "could have led to it."
    ]
    if metric.presence == "hidden":
        lines.append(
            f"{a(window).capitalize()} in which the program did not run is reported as "
            f"{null(metric)} once it runs again, if it does so within {_grace(metric)}; in all figures {null(metric)} "
            "can mean that it did not run."
        )
    if metric.group:
        lines.append(
            f"It takes turns with the {plural(every - 1, 'other metric')} of its group {metric.group}: one report for "
            f"each {window} at most, for all of them together."
        )
    if every > 1:
        most = plural(metric.reports, "report")
        lines.append(
            f"Its turn comes in one {window} of every {every}, so it sends {most} at most. The turn is drawn from its "
            f"secret, never from data, and shows; {window}s without a turn cost nothing."
        )
    if metric.shuffler:
        lines.append(
            f"Mixed on the way, as its owners declare, by {metric.shuffler.rstrip('.')}. No price counts on it; hubbub "
            "checks none of it."
        )
    return lines


def _same(metric: Metric) -> list[str]:
    prices, window = of_life(metric), metric.window
    lines = [
        "Epsilon bounds the evidence: the odds between two values, or two histories, change at most e^epsilon-fold. "
        "The percentage is what even odds can become.",
        f"One report: {_price(prices.report)}. Whoever held two values to be equally likely can be that sure of "
        "one after reading it.",
    ]
    if metric.reports == 1:
        return lines
    if not keeps(metric):
        sure = _first_beyond(prices.report)
        return [
            *lines,
            f"A device that never changes: {_price(prices.steady)}. Nothing is kept from report to report, so the "
            f"losses of {plural(metric.reports, 'report')} add up"
            + (f"; from {sure} on nothing is promised." if prices.steady > CERTAIN else "."),
        ]
    first = (
        "and a change has no bound here."
        if math.isinf(prices.change)
        else f"paid at the price of one changed {window} for each {window}{_at_turn(metric)} that differs."
    )
    steady = f"A device that never changes: {_price(prices.steady)}, for all its reports together"
    return [
        *lines,
        f"{steady}, for ever. That is no promise for life: it ends with the first change."
        if prices.steady == metric.prices.steady
        else f"{steady}, as its life is short. If it is renewed with the same encoding, up to epsilon "
        f"{nats(metric.prices.steady)}.",
        f"A new feature starts at a value that everybody knows, so its first use is a change, {first}",
    ]


def _only(metric: Metric, worst: str) -> list[str]:
    """All other prices of a life that has one report."""
    window, renewed = metric.window, metric.prices
    lines = [
        f"It is the only report in the whole life of {plural(len(metric.life), window)}. So a device that never "
        f"changes, one changed {window} and any two histories cost the same.{worst}"
    ]
    if keeps(metric):
        lines.append(
            "If it is renewed with the same encoding, its permanent answers stay: a device that never changes costs "
            f"epsilon {nats(renewed.steady)} then, one changed {window} {cost(renewed.change)}."
        )
    return lines


def _changing(metric: Metric) -> list[str]:
    prices, window, reports, turn = of_life(metric), metric.window, metric.reports, _at_turn(metric)
    worst = " In the worst case there is no protection." if CERTAIN < prices.life < math.inf else ""
    if reports == 1:
        return _only(metric, worst)
    span = f"Any two histories over the whole life of {plural(len(metric.life), window)}, {plural(reports, 'report')}"
    if math.isinf(prices.change):
        return [
            f"One changed {window}{turn}: no bound. Each report repeats the permanent answer as it is, so a change of "
            "the value can show for certain.",
            f"{span}: no bound. The metric's owners declared that its changes are visible.",
        ]
    again = f"in every {window}" if not turn else "at every turn"
    lines = [
        f"One changed {window}{turn}, all else equal: {_price(prices.change)}. k of them cost at most k times that, "
        f"and a lasting change counts {again} that follows.",
        f"{span}: {_price(prices.life, 'at most ')}.{worst}",
    ]
    if worst and keeps(metric):
        lines.append(
            f"One lasting move {MOVES[metric.kind]} halfway through counts as {plural(reports // 2, 'change')}; from "
            f"{plural(_first_beyond(prices.change), f'changed {window}')}{turn} on nothing is promised: the bound is "
            "above 99.99 %."
        )
    return lines


def _uncompared(metric: Metric) -> list[str]:
    kind = "vectors" if metric.kind == "vector" else metric.kind
    return [f"For {kind} nothing is compared: that is done for yes or no, means, choices and histograms alone."]


def _whose(metric: Metric) -> list[str]:
    return [
        "Each price is that of one installation and of this metric alone.",
        "Prices add up over metrics, over later versions and renewals, over re-installations, and over all the "
        "devices of one person.",
        "Where several people share a device, its history mixes theirs, and the prices are those of the device.",
    ]


def _seen(metric: Metric) -> list[str]:
    window = metric.window
    names = ", ".join(name for name, _ in metric.dimensions)
    if len(names) > _ROOM:
        names = f"values of {len(metric.dimensions)} dimensions"
    told = in_bits(metric.encoder.public_bits + metric.encoder.linkage_bits)
    presence = [
        f"Visible: that an installation takes part, and when its program ran, since each {window} in which it did "
        + ("sends a report." if metric.report_every == 1 else "sends a report at its turn.")
    ]
    if metric.presence == "hidden":
        presence = [
            f"Visible: that an installation takes part, and that its program did not run for more than "
            f"{_grace(metric)}. In which {window}s it ran within that time cannot be read from this metric's reports.",
            "Whoever carries or receives the traffic still sees when an installation sends, and that reports of many "
            f"{window}s come together after it was away.",
            f"An update that changes the metric's encoding shows an absence just before it: the {window}s since the "
            "program last ran stay without a report.",
        ]
    return [
        *presence,
        f"In the clear with each report: the metric, its encoding and the {window}"
        + (f", and the device's {names}" if names else "")
        + ". No noise covers them.",
        *_kept(metric),
        "A report's id links nothing by itself, but whoever carries or receives the traffic sees addresses, "
        f"and a report of a steady device tells up to {told} about its next"
        + (", beside what is in the clear." if names else "."),
        *_turn(metric),
        "A proxy in front of the collector, or the collector's host, sees addresses and can link by them; hubbub "
        "stores none.",
    ]


def _kept(metric: Metric) -> list[str]:
    """What travels in the clear and stays the same, drawn once from the secret: a seed, a row of buckets, a cohort."""
    if not metric.encoder.public_bits:
        return []
    many = round(2**metric.encoder.public_bits)
    return [
        f"In the clear too: a number, one of {many}, that the device keeps for good. By it its reports can be told "
        f"from those of all but one device in {many}, whatever their values."
    ]


def _turn(metric: Metric) -> list[str]:
    """What its own panel adds to what a report tells about the next."""
    every = metric.report_every
    if every == 1:
        return []
    return [
        f"By when it reports shows which turn it has, one of {every}: {in_bits(math.log2(every))} more, for ever, "
        f"and the same for all metrics whose turn comes in one window of {every}."
    ]


def _open(metric: Metric) -> list[str]:
    device = (
        "sees through the permanent answers. Against all others the promise rests on HMAC-SHA-256."
        if keeps(metric)
        else "sees the value itself."
    )
    return [
        "Not protected: what is true of the crowd, which is what the metric measures, and what follows from it about "
        "anyone.",
        f"Not protected: the device itself. Whoever reads its memory, its secret or a backup {device}",
        f"Figures from fewer than {metric.min_reports} reports are withheld because they are inaccurate; that is no "
        "rule of privacy.",
    ]


def null(metric: Metric) -> str:
    """What a device reports that has nothing to report."""
    return {"boolean": '"no"', "choice": f'"{NONE}"', "words": "no word", "vector": "zeros"}.get(metric.kind, "0")


def _grace(metric: Metric) -> str:
    days, rest = divmod(metric.grace, 86_400)
    return plural(metric.grace // 3600, "hour") if rest else plural(days, "day")


def _at_turn(metric: Metric) -> str:
    """What follows a changed window of which only those with a turn are reported."""
    return " at its turn" if metric.report_every > 1 else ""


def _price(epsilon: float, bound: str = "") -> str:
    return f"epsilon {bound}{nats(epsilon)}, {in_words(epsilon)}"


def _first_beyond(epsilon: float) -> int:
    """Smallest number of losses of epsilon whose sum lies beyond practical certainty."""
    return math.floor(CERTAIN / epsilon) + 1
