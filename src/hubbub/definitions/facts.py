"""A locked metric in the words of metrics.toml, for people to read and compare."""

from hubbub.definitions.checks import decimal
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.vector import of_vectors
from hubbub.lock import ACTIVE, AGGREGATES, Metric
from hubbub.privacy import nats

COMES_TO = {  # each way to aggregate, in words
    "sum": "the sum of a window's values",
    "count": "how many values a window has",
    "max": "the largest value of a window",
    "last": "the last value of a window",
    "first": "the first value of a window",
    "share": "the share of yes in a window",
    "any": "yes if one value of a window is",
    "all": "yes if all values of a window are",
    "most": "the most frequent value of a window, of several the one that came first",
}


def facts(metric: Metric) -> dict[str, str]:
    """What is known of a metric, as text by key; keys of another kind are left out."""
    prices = {f"price of {name}": nats(price) for name, price in metric.prices._asdict().items()}
    return {
        "version": str(metric.version),
        "kind": metric.kind,
        "mechanism": metric.encoder.name,
        **_range(metric),
        "unit": metric.unit,
        "aggregate": metric.aggregated if not metric.source and len(AGGREGATES[metric.kind]) > 1 else "",
        "fed by": metric.source and metric.name.removesuffix(ACTIVE),
        "strategy": "memo" if permanent(metric) else "fresh",
        "window": metric.window,
        "starts": metric.starts,
        "expires": metric.expires,
        "grace": f"{metric.grace // 3600} h",
        "report_every": str(metric.report_every),
        "rotation": metric.group and f"{metric.group}, {metric.rank + 1} of {metric.report_every}",
        "presence": metric.presence,
        "dimensions": ", ".join(f"{name} ({', '.join(values)})" for name, values in metric.dimensions),
        "min_reports": str(metric.min_reports),
        "shuffler": metric.shuffler,
        **prices,
        "description": metric.description,
        "purpose": metric.purpose,
        "owners": ", ".join(metric.owners),
        "hash": metric.hash,
    }


def permanent(metric: Metric) -> bool:
    """Whether devices keep permanent answers."""
    return bool(metric.encoder.memo)


def _range(metric: Metric) -> dict[str, str]:
    if metric.kind == "choice":
        return {"categories": ", ".join(metric.labels)}
    if metric.kind == "histogram":
        upper = metric.lower + metric.encoder.size * metric.step
        return {"lower": decimal(metric.lower), "upper": decimal(upper), "buckets": str(metric.encoder.size)}
    if metric.kind == "words":
        sizes = ("bits", "hashes", "cohorts")
        return {key: str(getattr(metric.encoder, key)) for key in sizes if hasattr(metric.encoder, key)}
    if metric.kind == "vector":
        named = {"coordinates": ", ".join(metric.labels)} if metric.labels else {}
        return {"dimension": str(of_vectors(metric.encoder).dimension), "norm": decimal(-metric.lower)} | named
    if metric.kind != "mean":
        return {}
    upper = metric.lower + (metric.encoder.size - 1) * metric.step
    known = {"lower": decimal(metric.lower), "upper": decimal(upper), "step": decimal(metric.step)}
    if isinstance(metric.encoder, OneBitMean) and metric.encoder.bucket < metric.encoder.ticks:
        known["bucket"] = str(metric.encoder.bucket)
    return known
