"""A small metrics.lock for tests: one mean, one yes/no."""

from typing import Any

from hubbub.encoders.base import Encoder
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.lock import Lock, Metric

MINUTES = OneBitMean(480, 480, 511_972_653, 3_271_021_990, 844_441_824, 1)
YES_NO = RandomizedResponse(1_155_094_611, 0, 0)


def metric(encoder: Encoder = MINUTES, **changes: Any) -> Metric:
    """A metric of half-hours from -2 on, or a yes/no, with some fields changed."""
    mean = isinstance(encoder, OneBitMean)
    fields: dict[str, Any] = {
        "name": "editor.minutes",
        "version": 1,
        "kind": "mean" if mean else "boolean",
        "encoder": encoder,
        "lower": -2_000_000 if mean else 0,
        "step": 500_000 if mean else 1_000_000,
        "unit": "min" if mean else "",
        "labels": (),
        "window": "day",
        "starts": "2026-12-01",
        "expires": "2026-12-31",
        "grace": 1_209_600,
        "report_every": 1,
        "rotation": "",
        "presence": "ran",
        "seal": "window_end",
        "dimensions": (("channel", ("stable", "beta")), ("os", ("linux", "macos"))),
        "min_reports": 100,
        "description": "Minutes the editor was in front",
        "purpose": "Decide which platform to speed up first",
        "owners": ("telemetry@example.org",),
    }
    return Metric(**{**fields, **changes})


def lock(*metrics: Metric) -> Lock:
    """These metrics, or one of each kind."""
    chosen = metrics or (metric(), metric(YES_NO, name="editor.opened", unit="", dimensions=(), window="week"))
    return Lock("editor-desktop", {one.name: one for one in chosen})
