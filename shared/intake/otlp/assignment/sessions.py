"""The session of a trace: decided once, by what is known of the trace at that moment."""

from collections.abc import Sequence
from typing import NamedTuple

from shared.intake.otlp.assignment.items import Item


class Session(NamedTuple):
    """The session of a trace. `is_named`: a record or a resource named it.

    `has_kinds`: the trace has a span that is not `other`.
    """

    id: str
    is_named: bool
    has_kinds: bool

    @property
    def is_agentic(self) -> bool:
        """Whether its spans of kind `other`, and its log records, belong to the work of agents."""
        return self.is_named or self.has_kinds


class Proposal(NamedTuple):
    """The session that a trace gets if it has none yet."""

    id: str
    is_named: bool


def propose(trace_id: str, items: Sequence[Item], wait_ms: int, now_ms: int) -> Proposal | None:
    """Returns the session of a trace by these records; None while a better one may come.

    A name of the root counts first, then the names of other records, those of resources, and last
    the trace id. Names of resources and the trace id count once the root is there, or a record has
    waited for `wait_ms`.
    """
    named = [item for item in items if item.is_named]
    if named:
        best = min([item for item in named if item.is_root] or named, key=_preference)
        return _named(best)
    if all(not item.is_root and now_ms < item.since_ms + wait_ms for item in items):
        return None
    by_resource = [item for item in items if item.name is not None]
    return _named(min(by_resource, key=_preference)) if by_resource else Proposal(trace_id, False)


def has_other_name(items: Sequence[Item], session: Session) -> bool:
    """Returns whether a record names another session than that of its trace."""
    return any(item.is_named and item.name[1] != session.id for item in items if item.name)


def _preference(item: Item) -> tuple[int, int, str]:
    assert item.name is not None  # noqa: S101 callers select items with names
    return item.name[0], item.start_ns, item.record.span_id


def _named(item: Item) -> Proposal:
    assert item.name is not None  # noqa: S101 callers select items with names
    return Proposal(item.name[1], True)
