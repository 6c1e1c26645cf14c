"""Which queues one process works on: hanging evaluator calls never take ingest's threads."""

from collections.abc import Callable
from dataclasses import dataclass

from shared.config import Settings


@dataclass(frozen=True)
class Group:
    """A process type: its queues, and how many threads they share."""

    queues: tuple[str, ...]
    threads: Callable[[Settings], int]


GROUPS: dict[str, Group] = {
    "ingest": Group(("ingest",), lambda settings: settings.ingest_threads),
    "evaluator": Group(("evaluator",), lambda settings: settings.evaluator_concurrency),
    "background": Group(("background",), lambda _settings: 4),
}
