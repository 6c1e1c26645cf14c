"""The processor time of the programs that a benchmark started."""

from collections import defaultdict

import psutil


def processor_seconds() -> dict[str, float]:
    """Returns the processor seconds of all programs that this process started, by program."""
    taken: dict[str, float] = defaultdict(float)
    for process in psutil.Process().children(recursive=True):
        try:
            times, words = process.cpu_times(), process.cmdline()
        except psutil.Error:
            continue
        # Processes that ended in between count with their parents.
        taken[_program(words)] += sum(times[:4])
    return taken


def _program(words: list[str]) -> str:
    for name in ("scorer", "gunicorn", "clickhouse", "postgres", "redis", "valkey"):
        if any(name in word for word in words[:4]):
            return name
    return next((word for word in words if word.startswith("workers.")), "others")
