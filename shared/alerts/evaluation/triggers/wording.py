"""Numbers and durations in sentences for people."""

_UNITS = ((86_400, "d"), (3600, "h"))


def number(value: float) -> str:
    """Formats whole numbers without a point, others with ten digits: `1234567`, `0.4166666667`."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.10g}"


def span(us: int) -> str:
    """Formats a duration given in microseconds: `300 s`, `2 h`, `30 d`."""
    secs = round(us / 1_000_000)
    for size, unit in _UNITS:
        if secs % size == 0:
            return f"{secs // size} {unit}"
    return f"{secs} s"


def storable(text: str) -> str:
    """Removes U+0000, which PostgreSQL cannot store, from texts of agents or people's SQL."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
