"""Reads the metrics of a process type as a monitoring system does."""

import re
import urllib.request

_LINE = re.compile(r"(\w+(?:\{.*\})?) (\S+)")


def scrape(port: int) -> dict[str, float]:
    """Returns the value of each series, by its name and labels as they are written."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    found: dict[str, float] = {}
    for line in lines:
        if not line.startswith("#"):
            match = _LINE.fullmatch(line)
            assert match is not None, line
            found[match[1]] = float(match[2])
    return found


def total(series: dict[str, float], name: str, *labels: str) -> float:
    """Returns the sum of all series of this name that contain these labels, as `name="value"`."""
    return sum(
        value
        for one, value in series.items()
        if one.partition("{")[0] == name and all(label in one for label in labels)
    )
