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
class UsageSubject:
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
class UsageCounter:
    """A function that counts, and a description of the number."""

    description: str
    count: Callable[[UsageSubject], int]


def _users_active(subject: UsageSubject) -> int:
    query = select(func.count()).where(
        Membership.org_id == subject.org_id, Membership.disabled_at.is_(None)
    )
    with subject.runtime.postgres.transaction() as session:
        return session.scalar(query) or 0


def _keys_active(subject: UsageSubject) -> int:
    with subject.runtime.postgres.transaction() as session:
        return count_active(session, subject.org_id)


def _created(kind: Kind) -> Callable[[UsageSubject], int]:
    def count(subject: UsageSubject) -> int:
        window = subject.window
        with subject.runtime.postgres.transaction() as session:
            return created_in(session, subject.org_id, kind, window.start, window.end)

    return count


def _assistant_turns(subject: UsageSubject) -> int:
    with subject.runtime.postgres.transaction() as session:
        window = subject.window
        return turns.turns_between(session, subject.org_id, window.start, window.end)


def _assistant_tokens(subject: UsageSubject) -> int:
    with subject.runtime.postgres.transaction() as session:
        window = subject.window
        return turns.tokens_between(session, subject.org_id, window.start, window.end)


COUNTERS: Mapping[str, UsageCounter] = {
    "events_ingested": UsageCounter(
        "events that arrived in the window; an event sent twice counts once, at its first arrival",
        lambda subject: subject.events.events,
    ),
    "sessions": UsageCounter(
        "sessions that these events belong to", lambda subject: subject.events.sessions
    ),
    "agents": UsageCounter("agents that these events name", lambda subject: subject.events.agents),
    "environments": UsageCounter(
        "environments that these events name", lambda subject: subject.events.environments
    ),
    "evaluations": UsageCounter(
        "evaluations that ended with a result (`done`) in the window, all of a session",
        lambda subject: subject.evaluations.evaluations,
    ),
    "evaluation_runs": UsageCounter(
        "evaluations that ended in the window in any way: `done`, `error` or `timeout`",
        lambda subject: subject.evaluations.runs,
    ),
    "audit_runs": UsageCounter(
        "audit runs that began in the window, including those of deleted audits",
        _created("audit_run"),
    ),
    "incidents_opened": UsageCounter(
        "incidents opened in the window, including those of deleted alerts", _created("incident")
    ),
    "alerts_created": UsageCounter(
        "alerts created in the window, including deleted ones", _created("alert")
    ),
    "queries_created": UsageCounter(
        "queries saved in the window for the first time, including deleted ones", _created("query")
    ),
    "dashboards_created": UsageCounter(
        "dashboards created in the window, including deleted ones", _created("dashboard")
    ),
    "assistant_turns": UsageCounter(
        "questions to the assistant that were asked in the window", _assistant_turns
    ),
    "assistant_tokens": UsageCounter(
        "tokens that the answers to these questions used", _assistant_tokens
    ),
    "users_active": UsageCounter("members who are not disabled now", _users_active),
    "keys_active": UsageCounter(
        "keys that `GET /keys` lists and that are neither disabled nor expired now", _keys_active
    ),
}
