"""Which queues one process works on: hanging evaluator calls never take ingest's threads."""

from collections.abc import Callable
from dataclasses import dataclass

from shared.core.config import Settings

# How many organizations' rules a process adds up at once, beside the statements it runs.
ALERT_BATCH_THREADS = 4


def _one(_settings: Settings) -> int:
    return 1


@dataclass(frozen=True)
class Group:
    """A process type: its queues, the threads that share them, and in how many processes.

    `niceness` is the operating system's: higher gives way to others on a busy machine.
    `idle_wait_ms` is what a message waits at most before an idle process sees it. All its threads
    wake up as often: at 50 ms that takes a thirtieth of a core, day and night.
    """

    queues: tuple[str, ...]
    threads: Callable[[Settings], int]
    processes: Callable[[Settings], int] = _one
    niceness: int = 0
    idle_wait_ms: int = 250


GROUPS: dict[str, Group] = {
    # Turning batches into columns is Python's work all the way, so threads would only share one
    # core; processes do not.
    "ingest": Group(
        ("ingest",),
        threads=_one,
        processes=lambda settings: settings.ingest_processes,
        # An event posted alone has to be readable within a second.
        idle_wait_ms=50,
    ),
    "evaluator": Group(("evaluator",), lambda settings: settings.evaluator_concurrency),
    "background": Group(("background",), lambda _settings: 4),
    "mail": Group(("mail",), lambda _settings: 2),
    # So that rules are added up together while statements of people's own run, and these besides.
    "alerts": Group(
        ("alerts",), lambda settings: settings.alert_query_concurrency + ALERT_BATCH_THREADS
    ),
    "notifications": Group(("notifications",), lambda _settings: 2),
    # An audit reads a lot and nobody waits for it.
    "audits": Group(("audits",), lambda _settings: 2, niceness=5),
}
