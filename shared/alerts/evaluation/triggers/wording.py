"""Durations in sentences for people."""

_UNITS = ((86_400, "d"), (3600, "h"))


def span(us: int) -> str:
    """Formats a duration given in microseconds: `300 s`, `2 h`, `30 d`."""
    secs = round(us / 1_000_000)
    for size, unit in _UNITS:
        if secs % size == 0:
            return f"{secs // size} {unit}"
    return f"{secs} s"
