"""The table of usage counters; to add a counter, add a row."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import func, select

from shared.access.keys.service import count_active
from shared.access.organizations.creations import Kind, created_in
from shared.access.users import Membership
from shared.assistant import turns
from shared.foundation.deployment.runtime import Runtime
from shared.upkeep.usage.billing_windows import BillingWindow
from shared.upkeep.usage.evaluations import EvaluationTotals, evaluation_totals
from shared.upkeep.usage.events import EventTotals, event_totals


@dataclass(frozen=True)
class Subject:
    """The organization and the window to count; data for several counters is read once."""

    runtime: Runtime
    org_id: uuid.UUID
    window: BillingWindow

    @cached_property
    def events(self) -> EventTotals:
        """Returns the totals of the events of the window."""
        return event_totals(self.runtime.clickhouse, str(self.org_id), self.window)

    @cached_property
    def evaluations(self) -> EvaluationTotals:
        """Returns the totals of the evaluations of the window."""
        return evaluation_totals(self.runtime.clickhouse, str(self.org_id), self.window)


@dataclass(frozen=True)
class Counter:
    """A function that counts, and a description of the number."""

    description: str
    count: Callable[[Subject], int]


def _users_active(subject: Subject) -> int:
    query = select(func.count()).where(
        Membership.org_id == subject.org_id, Membership.disabled_at.is_(None)
    )
    with subject.runtime.postgres.transaction() as session:
        return session.scalar(query) or 0


def _keys_active(subject: Subject) -> int:
    with subject.runtime.postgres.transaction() as session:
        return count_active(session, subject.org_id)


def _created(kind: Kind) -> Callable[[Subject], int]:
    def count(subject: Subject) -> int:
        window = subject.window
        with subject.runtime.postgres.transaction() as session:
            return created_in(session, subject.org_id, kind, window.start, window.end)

    return count


def _assistant_turns(subject: Subject) -> int:
    with subject.runtime.postgres.transaction() as session:
        window = subject.window
        return turns.turns_between(session, subject.org_id, window.start, window.end)


def _assistant_tokens(subject: Subject) -> int:
    with subject.runtime.postgres.transaction() as session:
        window = subject.window
        return turns.tokens_between(session, subject.org_id, window.start, window.end)


COUNTERS: Mapping[str, Counter] = {
    "events_ingested": Counter(
        "events that arrived in the window; an event sent twice counts once, at its first arrival",
        lambda subject: subject.events.events,
    ),
    "sessions": Counter(
        "sessions that these events belong to", lambda subject: subject.events.sessions
    ),
    "agents": Counter("agents that these events name", lambda subject: subject.events.agents),
    "environments": Counter(
        "environments that these events name", lambda subject: subject.events.environments
    ),
    "evaluations": Counter(
        "evaluations that ended with a result (`done`) in the window, all of a session",
        lambda subject: subject.evaluations.evaluations,
    ),
    "evaluation_runs": Counter(
        "evaluations that ended in the window in any way: `done`, `error` or `timeout`",
        lambda subject: subject.evaluations.runs,
    ),
    "audit_runs": Counter(
        "audit runs that began in the window, including those of deleted audits",
        _created("audit_run"),
    ),
    "incidents_opened": Counter(
        "incidents opened in the window, including those of deleted alerts", _created("incident")
    ),
    "alerts_created": Counter(
        "alerts created in the window, including deleted ones", _created("alert")
    ),
    "queries_created": Counter(
        "queries saved in the window for the first time, including deleted ones", _created("query")
    ),
    "dashboards_created": Counter(
        "dashboards created in the window, including deleted ones", _created("dashboard")
    ),
    "assistant_turns": Counter(
        "questions to the assistant that were asked in the window", _assistant_turns
    ),
    "assistant_tokens": Counter(
        "tokens that the answers to these questions used", _assistant_tokens
    ),
    "users_active": Counter("members who are not disabled now", _users_active),
    "keys_active": Counter(
        "keys that `GET /keys` lists and that are neither disabled nor expired now", _keys_active
    ),
}
