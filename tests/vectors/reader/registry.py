"""spec/registry.md: from a number to a tick."""


def tick(lower: int, step: int, ticks: int, x: float) -> int:
    low, each = lower / 1e6, step / 1e6
    if x <= low:
        return 0
    return ticks if x >= low + ticks * each else int(((x - low) / each + 0.5) // 1)
