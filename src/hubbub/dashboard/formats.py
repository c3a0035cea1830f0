"""Numbers, times and facts of a metric as pages write them; sentences about privacy come from `hubbub.privacy`."""

import re
from collections.abc import Sequence
from decimal import Decimal

from hubbub.estimates import Period, Row
from hubbub.estimates.wording import Scale
from hubbub.lock import Metric
from hubbub.mechanisms import of_metric
from hubbub.privacy import null
from hubbub.privacy.prices import keeps
from hubbub.privacy.words import a, plural

_THOUSANDS = re.compile(r"\d(?=(?:\d{3})+$)")
_THIN = "\u202f"  # between thousands; never a line's end
_HARD = "\u00a0"  # a space that is never a line's end


def grouped(text: str) -> str:
    """A plain number with its thousands apart and a true minus sign."""
    whole, point, rest = text.replace("-", "−").partition(".")
    return _THOUSANDS.sub(rf"\g<0>{_THIN}", whole) + point + rest


def rounded(number: float) -> str:
    """A number by itself, to three digits."""
    return grouped(f"{Decimal(f'{number:.3g}'):f}")


def count(number: int) -> str:
    """`4 000`."""
    return grouped(str(number))


def number(scale: Scale, value: float | None) -> str:
    """A value without its unit; a dash where there is none."""
    return grouped(scale.bare(value))


def value(scale: Scale, shown: Row | Period) -> str:
    """`36.2 %`."""
    return number(scale, shown.value) + (scale.unit if shown.value is not None else "")


def margin(scale: Scale, shown: Row | Period) -> str:
    """`36.2 ± 7.8`, without the unit: the value and half the width of its interval, which need not be in its middle."""
    if shown.value is None or shown.ci_low is None or shown.ci_high is None:
        return "–"
    return f"{number(scale, shown.value)} ±{_HARD}{number(scale, (shown.ci_high - shown.ci_low) / 2)}"


def interval(scale: Scale, shown: Row | Period) -> str:
    """`28.4 to 44.0 %`."""
    return ends(scale, shown) + (scale.unit if shown.ci_low is not None else "")


def ends(scale: Scale, shown: Row | Period) -> str:
    """`28.4 to 44.0`, without the unit."""
    if shown.ci_low is None or shown.ci_high is None:
        return "–"
    return f"{number(scale, shown.ci_low)} to {number(scale, shown.ci_high)}"


def epsilon(nats: str) -> str:
    """A loss as `hubbub.privacy` writes it, without zeros at its end: `1`, `1.409`."""
    return grouped(nats.rstrip("0").rstrip(".") if "." in nats else nats)


def when(window: str, start: str) -> str:
    """A window by its start: `2026-12-01`, or `2026-12-01 06:00` where windows are hours."""
    return start[:16].replace("T", " ") if window == "hour" else start[:10]


def moment(instant: str) -> str:
    """An RFC 3339 time as `2026-12-01 06:00 UTC`."""
    return f"{instant[:16].replace('T', ' ')} UTC"


def duration(seconds: int) -> str:
    """`14 days`, `36 hours`."""
    for length, noun in ((86_400, "day"), (3600, "hour")):
        if seconds % length == 0:
            return plural(seconds // length, noun)
    return plural(seconds, "second")


def state(name: str) -> str:
    """A state inside a sentence."""
    return name.replace("_", " ")


def denominator(metric: Metric) -> str:
    """Who is in a number of this metric."""
    that, grace = f"that {metric.window}", duration(metric.grace)
    turn = f"Of the installations whose turn it was {that}, about one in {metric.report_every}: those on which "
    if metric.presence == "hidden":
        who = turn if metric.report_every > 1 else "Installations on which "
        absent = f"The value of those on which it did not run {that} counts as {null(metric)}."
        return f"{who}the program ran {that} or within {grace} after it. {absent}"
    if metric.report_every == 1:
        return f"Installations on which the program ran {that} and reported within {grace}."
    return f"{turn}the program ran then and reported within {grace}."


def measured(metric: Metric, *, among: bool = False) -> str:
    """What the axis of a chart counts; `among`: the mean among those that recorded anything."""
    if metric.kind == "boolean":
        return f"Share of installations that {'recorded anything' if metric.source else 'answer yes'}"
    if metric.shares:
        by = {"histogram": "bucket", "words": "word"}.get(metric.kind, "answer")
        return f"Share of installations by {by}, for each {metric.window}"
    mean = "Mean of each coordinate" if metric.kind == "vector" else "Mean among active," if among else "Mean"
    return f"{mean} per installation and {metric.window}; each value is clipped to {possible(metric)}"


def possible(metric: Metric, bounds: Sequence[float] = ()) -> str:
    """What a truth can be, `0 to 480 min`; or these bounds of it, `0 and 480 min`."""
    factor, unit = (100, "%") if metric.shares else (1, metric.unit)
    ends = [grouped(f"{factor * bound:.12g}") for bound in bounds or of_metric(metric).bounds]
    return f"{(' and ' if bounds else ' to ').join(ends)}{_HARD}{unit}".rstrip()


def limit(metric: Metric, lines: Sequence[float]) -> str:
    """What the lines at bounds of the truth are."""
    low, _ = of_metric(metric).bounds
    words = ["the least" if line == low else "the most" for line in lines]
    return f"{' and '.join(words)} that the truth can be"


def outside(metric: Metric, rows: Sequence[Row]) -> bool:
    """Whether an estimate or its interval is more than the truth can be, or less."""
    low, high = of_metric(metric).bounds
    return any(
        row.ci_low is not None and row.ci_high is not None and not low <= row.ci_low <= row.ci_high <= high
        for row in rows
    )


def limits(metric: Metric, scale: Scale, rows: Sequence[Row], *, among: bool = False) -> list[tuple[str, str]]:
    """What there is to know before these numbers are believed: each as a few words and what they mean.

    Args:
        metric: Whose they are.
        scale: How they are written.
        rows: What is shown.
        among: Whether it is the mean among those that recorded anything.
    """
    least, window = count(metric.min_reports), metric.window
    lines = [
        (
            "An estimate, not a count.",
            "Each installation disguises its value by chance before anything is sent. How the chance works is known, "
            "so it can be taken out of the mean of all, but not out of any single report. What is left of it in the "
            "mean is the width of the band.",
        ),
        (
            "Provisional, then final.",
            f"Devices may be late, so reports of a {window} are taken until {duration(metric.grace)} after its end. "
            f"Until then its value may change, in steps of {least} reports, so that watching does not show each of "
            f"them. {a(window).capitalize()} with fewer than {least} shows no value.",
        ),
    ]
    if among:
        lines.append(
            (
                "One estimate over another.",
                f"The mean of all, divided by the share that recorded anything. {a(window).capitalize()} on which that "
                "share may be 0 has no value: it is too uncertain, and its interval all that the value can be.",
            )
        )
    if outside(metric, rows):
        lines.append(
            (
                f"Estimates may lie outside {possible(metric)}.",
                "That is no fault: chance errs to both sides, and an estimate pushed back into the range would err to "
                "one. The truth lies within; so does the column tidied of the files.",
            )
        )
    if rows and (lies := rows[-1].manipulation_per_percent) is not None:
        share = "points" if metric.shares else metric.unit
        moved = f"{rounded(scale.factor * lies)}{_HARD}{share}".rstrip()
        lines.append(("Lies count.", f"One liar in a hundred installations can move the value by up to {moved}."))
    if among:
        lines.append(("Lies count.", "How far liars can move such a ratio has no bound."))
    if keeps(metric):
        lines.append(
            (
                f"Neighbouring {window}s err together,",
                "since installations repeat their permanent answers: a smooth line is no evidence that it is right.",
            )
        )
    return lines


def beneath(heading: str, sentence: str) -> str:
    """A sentence under a heading that says its first words already."""
    shorter = sentence.removeprefix(f"{heading.removeprefix('What is ').capitalize()}: ")
    return shorter[0].upper() + shorter[1:]
