"""Benchmarks, one per module: ``python -m benchmarks.NAME [--quick] [--json]``."""
