"""The queues of each process type: hanging evaluator calls never take ingest's threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shared.assistant.limits import MAX_TURNS
from shared.foundation.core.config import Settings

# The number of organizations whose rules a process evaluates at once, in addition to SQL
# statements.
ALERT_BATCH_THREADS = 4


def _one(_settings: Settings) -> int:
    return 1


@dataclass(frozen=True)
class Group:
    """A process type: its queues, the threads that share them, and the number of processes.

    `actors` are the modules in `workers.actors` that declare actors of these queues. `niceness` is
    the operating system's: processes with a higher one yield to others on a busy machine. A group
    that `shares` runs in one process with the other such groups, in threads of its own. If its
    queues are `apart`, each of them has so many threads of its own.
    """

    queues: tuple[str, ...]
    actors: tuple[str, ...]
    threads: Callable[[Settings], int]
    processes: Callable[[Settings], int] = _one
    niceness: int = 0
    shares: bool = False
    apart: bool = False


GROUPS: dict[str, Group] = {
    # Turning batches into columns is all Python, so threads would share one core; processes do not.
    "ingest": Group(
        ("ingest", "placing"),
        ("ingest", "otlp"),
        threads=_one,
        processes=lambda settings: settings.ingest_processes,
        # Storing waits for more events now and then, and placing may not wait for it.
        apart=True,
    ),
    # Building requests and reading answers fills a core when there are many. One thread has the
    # turn for the deployment's evaluator, one for the others; two more take the messages that ask
    # them to look again.
    "evaluator": Group(("evaluator",), ("evaluation_jobs", "runs"), lambda _settings: 4),
    "background": Group(
        ("background",),
        (
            *("assistant", "audits", "deletions", "evaluation_jobs"),
            *("ingest", "receipts", "runs", "upkeep"),
        ),
        lambda _settings: 4,
        shares=True,
    ),
    "mail": Group(("mail",), ("mail",), lambda _settings: 2, shares=True),
    # Aggregated rules run while SQL statements of people run, in threads of their own.
    "alerts": Group(
        ("alerts",),
        ("alerts",),
        lambda settings: settings.alert_query_concurrency + ALERT_BATCH_THREADS,
        shares=True,
    ),
    "notifications": Group(("notifications",), ("deliveries",), lambda _settings: 2, shares=True),
    # A turn has a thread, which waits for a language model most of the time.
    "assistant": Group(("assistant",), ("assistant",), lambda _settings: MAX_TURNS, shares=True),
    # Audits, scheduled exports and repricings read a lot, and no person waits for them. None of
    # them waits for another.
    "audits": Group(
        ("audits", "exports", "repricings"),
        ("audits", "exports", "repricings"),
        lambda _settings: 2,
        niceness=5,
        apart=True,
    ),
}

# The group whose process also answers for the gauges of the deployment.
GAUGES_IN = "background"
# The group whose first process sends canaries.
CANARIES_IN = "ingest"


def type_of(groups: Sequence[str]) -> str:
    """Returns the process type that runs these groups."""
    return groups[0] if len(groups) == 1 else "worker"


def name_of(groups: Sequence[str]) -> str:
    """Returns the name of a process that runs these groups, as in its log lines."""
    return groups[0] if len(groups) == 1 else "shared"


def processes_of(groups: Sequence[str], settings: Settings) -> list[tuple[str, ...]]:
    """Returns the groups of each process that these groups need.

    Groups that share mostly wait for other servers. Together they need less than a core, and each
    process less is memory less.
    """
    alone = [group for group in groups if not GROUPS[group].shares]
    sharing = tuple(group for group in groups if GROUPS[group].shares)
    processes = [(group,) for group in alone for _ in range(GROUPS[group].processes(settings))]
    return [*processes, sharing] if sharing else [*processes]
