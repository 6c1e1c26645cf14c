"""Figures of the operating system about the running processes of a process type."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from shared.foundation.core.metrics.catalogue import CPU_SECS, INFO, MEMORY, PROCESSES
from shared.foundation.core.metrics.kinds import MetricReading
from shared.foundation.core.metrics.slots import ProcessSlots
from shared.foundation.core.version import VERSION

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def readings(slots: ProcessSlots) -> Iterator[MetricReading]:
    """Yields the readings of each running process; without /proc only their number."""
    yield MetricReading(INFO, 1.0, (VERSION,))
    counts: dict[str, int] = {}
    for process in slots.running():
        counts[process.name] = counts.get(process.name, 0) + 1
        labels = (process.name, str(process.slot))
        with suppress(OSError, ValueError, IndexError):
            yield MetricReading(CPU_SECS, _cpu_secs(process.pid), labels)
            yield MetricReading(MEMORY, _own_bytes(process.pid), labels)
    for name, count in counts.items():
        yield MetricReading(PROCESSES, count, (name,))


def _cpu_secs(pid: int) -> float:
    # The name of a process may contain spaces and brackets, so the fields are those after it.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _own_bytes(pid: int) -> float:
    _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
    return (resident - shared) * _PAGE
