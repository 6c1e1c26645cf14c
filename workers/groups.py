"""The queues of each process type: hanging evaluator calls never take ingest's threads."""

from collections.abc import Callable
from dataclasses import dataclass

from shared.core.config import Settings

# The number of organizations whose rules a process evaluates at once, in addition to SQL
# statements.
ALERT_BATCH_THREADS = 4


def _one(_settings: Settings) -> int:
    return 1


@dataclass(frozen=True)
class Group:
    """A process type: its queues, the threads that share them, and the number of processes.

    `niceness` is the operating system's: processes with a higher one yield to others on a busy
    machine. `idle_wait_ms` is the longest time before an idle process notices a message. All its
    threads wake up this often: at 50 ms that costs a thirtieth of a core at all times.
    """

    queues: tuple[str, ...]
    threads: Callable[[Settings], int]
    processes: Callable[[Settings], int] = _one
    niceness: int = 0
    idle_wait_ms: int = 250


GROUPS: dict[str, Group] = {
    # Turning batches into columns is all Python, so threads would share one core; processes do not.
    "ingest": Group(
        ("ingest",),
        threads=_one,
        processes=lambda settings: settings.ingest_processes,
        # An event that is sent alone has to be readable within a second.
        idle_wait_ms=50,
    ),
    "evaluator": Group(("evaluator",), lambda settings: settings.evaluator_concurrency),
    "background": Group(("background",), lambda _settings: 4),
    "mail": Group(("mail",), lambda _settings: 2),
    # Aggregated rules run while SQL statements of people run, in threads of their own.
    "alerts": Group(
        ("alerts",), lambda settings: settings.alert_query_concurrency + ALERT_BATCH_THREADS
    ),
    "notifications": Group(("notifications",), lambda _settings: 2),
    # An audit reads a lot, and no person waits for it.
    "audits": Group(("audits",), lambda _settings: 2, niceness=5),
}
