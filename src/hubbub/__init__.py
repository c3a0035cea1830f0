"""Telemetry under local differential privacy: hear the crowd, never the person.

Each device disguises its own answer before anything leaves it; from enough disguised answers the collector
recovers means and shares, each with an honest interval and its privacy price beside it.

Importing this package loads nothing else. What a device runs is in ``hubbub.client`` and needs only the standard
library; the other half (``hubbub.mechanisms``, ``hubbub.collector``, ``hubbub.cli``) comes with the extras.
"""

__version__ = "0.1.0.dev0"
