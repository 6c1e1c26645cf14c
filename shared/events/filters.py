"""The filters that every read of events takes."""

from dataclasses import dataclass, field
from datetime import datetime

from shared.clickhouse.where import Where
from shared.events.search import add_search


@dataclass(frozen=True)
class EventFilters:
    """What to look for; empty lists and None do not filter."""

    session_id: list[str] = field(default_factory=list)
    agent_id: list[str] = field(default_factory=list)
    event_type: list[str] = field(default_factory=list)
    environment: list[str] = field(default_factory=list)
    error_type: list[str] = field(default_factory=list)
    trigger_event: list[str] = field(default_factory=list)
    tool_name: list[str] = field(default_factory=list)
    hook_name: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    errored: bool = False
    search: list[str] = field(default_factory=list)
    search_exclude: list[str] = field(default_factory=list)
    ts_from: datetime | None = None
    ts_to: datetime | None = None

    def where(self, org_id: str) -> Where:
        """The WHERE clause of everything but the time range, which pages narrow themselves."""
        where = Where(org_id)
        for name in _MULTI_VALUE:
            where.any_of(name, getattr(self, name))
        if self.errored:
            where.add("is_error")
        add_search(where, self.search, self.search_exclude)
        return where


_MULTI_VALUE = (
    "session_id",
    "agent_id",
    "event_type",
    "environment",
    "error_type",
    "trigger_event",
    "tool_name",
    "hook_name",
    "model",
)
