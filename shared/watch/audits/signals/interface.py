"""The interface of signals: functions that search the scope of an audit run for patterns.

Each signal is a module with one `find`, and a row of `shared.watch.audits.signals.SIGNALS`. It
reads only through `Look` and writes nothing.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.where import Where

Sensitivity = Literal["low", "medium", "high"]
Severity = Literal["info", "warning", "critical"]
Magnitude = Literal["small", "medium", "big"]
Kind = Literal["failure", "improvement", "policy"]

# The largest number of sessions, and of events, that a finding cites.
MAX_CITED = 20


@dataclass(frozen=True)
class Window:
    """The events from `start` on and before `stop`; the window before it has the same length."""

    start: datetime
    stop: datetime

    @property
    def before(self) -> "Window":
        """Returns the window that ends where this one begins."""
        return Window(self.start - (self.stop - self.start), self.start)


@dataclass(frozen=True)
class Look:
    """The scope of an audit run: one organization, one window, and filters.

    Empty `environments` and `agent_ids` admit all. The signals of errors do not count
    `ignore_error_types`. `total_sessions` counts the sessions with events in the window and the
    scope.
    """

    clickhouse: ClickHouse
    org_id: str
    window: Window
    environments: tuple[str, ...] = ()
    agent_ids: tuple[str, ...] = ()
    ignore_error_types: tuple[str, ...] = ()
    sensitivity: Sensitivity = "medium"
    total_sessions: int = 0

    def where(self, window: Window | None = None, *, column: str = "ts") -> Where:
        """Returns the conditions of organization, scope and window (default: the audit's)."""
        wanted = self.window if window is None else window
        where = Where(self.org_id).between(column, wanted.start, wanted.stop)
        where.any_of("environment", self.environments)
        return where.any_of("agent_id", self.agent_ids)


@dataclass(frozen=True)
class EvidenceQuery:
    """A statement for POST /queries/run.

    The first one of a candidate returns one row whose columns have the names and the values of the
    candidate's `numbers`.
    """

    title: str
    sql: str


@dataclass(frozen=True)
class Candidate:
    """A pattern that a signal found.

    `key` identifies the pattern in later runs: it contains names, never numbers or times.
    `affected_sessions` counts sessions of the window. `session_ids` and `event_ids` exist, newest
    first, at most `MAX_CITED` of each. `first_seen_at` and `last_seen_at` lie in the window.
    """

    signal: str
    key: tuple[str, ...]
    title: str
    category: str
    failure_type: str
    kind: Kind
    severity: Severity
    magnitude: Magnitude
    affected_sessions: int
    first_seen_at: datetime
    last_seen_at: datetime
    description: str
    session_ids: tuple[str, ...]
    event_ids: tuple[int, ...]
    numbers: Mapping[str, float | int]
    queries: tuple[EvidenceQuery, ...]
    root_cause_hypothesis: str | None = None
    recommendation: str | None = None
    expected_impact: str | None = None
    effort: str | None = None
    scope: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Returns 32 hex characters, the same for the same pattern in every run and audit."""
        return hashlib.sha256("\x1f".join((self.signal, *self.key)).encode()).hexdigest()[:32]


Find = Callable[[Look], list[Candidate]]
