"""Numbers and articles inside sentences."""


def plural(count: int, noun: str) -> str:
    """`1 day`, `364 days`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def a(noun: str) -> str:
    """`a day`, `an hour`."""
    return f"an {noun}" if noun == "hour" else f"a {noun}"
