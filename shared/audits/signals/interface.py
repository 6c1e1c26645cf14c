"""What a signal is: a function from what an audit looks at to the patterns it found there.

Each signal is a module with one `find`, and a row of `shared.audits.signals.SIGNALS`. It reads
through `Look` alone and writes nothing.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from shared.clickhouse import ClickHouse
from shared.clickhouse.where import Where

Sensitivity = Literal["low", "medium", "high"]
Severity = Literal["info", "warning", "critical"]
Magnitude = Literal["small", "medium", "big"]
Kind = Literal["failure", "improvement", "policy"]

# How many sessions and events a finding cites.
MAX_CITED = 20


@dataclass(frozen=True)
class Window:
    """The events from `start` on and before `stop`; the window before it is as long."""

    start: datetime
    stop: datetime

    @property
    def before(self) -> "Window":
        """The window that ends where this one begins."""
        return Window(self.start - (self.stop - self.start), self.start)


@dataclass(frozen=True)
class Look:
    """What an audit looks at: one organization, one window, one scope.

    Empty `environments` and `agent_ids` admit all. `ignore_error_types` are not counted as errors
    by the signals of errors. `total_sessions`: sessions with events in the window and the scope.
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
        """Conditions on rows of the organization in a window (default: the audit's) and scope."""
        wanted = self.window if window is None else window
        where = Where(self.org_id).between(column, wanted.start, wanted.stop)
        where.any_of("environment", self.environments)
        return where.any_of("agent_id", self.agent_ids)


@dataclass(frozen=True)
class EvidenceQuery:
    """A statement for POST /queries/run.

    The first one of a candidate answers with one row whose columns are named like the candidate's
    `numbers` and hold the same values.
    """

    title: str
    sql: str


@dataclass(frozen=True)
class Candidate:
    """A pattern that a signal found.

    `key` is what makes it the same pattern in the next run: names, never numbers or times.
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
        """32 hex characters, the same for the same pattern in every run and audit."""
        return hashlib.sha256("\x1f".join((self.signal, *self.key)).encode()).hexdigest()[:32]


Find = Callable[[Look], list[Candidate]]
