"""Evaluation jobs under test: prepares sessions, reads jobs and results back."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

import msgspec
from sqlalchemy import RowMapping, text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import promotion, storing
from shared.evaluation.evaluation_jobs.evaluator_config import (
    EvaluatorTimings,
    remember,
    take_refresh,
)
from shared.evaluation.evaluation_jobs.watching import StoredSession, watch
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.listing import page
from shared.reading.evaluations.records import Evaluation
from tests.support.evaluator import Answer, Evaluator, hang
from tests.support.events import event, store_events
from tests.support.runtime import Org
from workers.evaluation_jobs.client import default_client
from workers.evaluation_jobs.default_evaluator import DefaultEvaluator
from workers.evaluation_jobs.dispatcher import EvaluationDispatcher

_Result = TypeVar("_Result")


def insert_job(session: Session, org: Org, session_id: str, **fields: str) -> None:
    """Inserts a job that is due tomorrow. `fields` replace its agent and environment."""
    session.execute(
        text(
            "INSERT INTO evaluation_jobs (id, org_id, session_id, agent_id, environment,"
            " trigger, request_id, enqueued_at, next_attempt_at)"
            " VALUES (:id, :org_id, :session_id, :agent_id, :environment, 'manual', '', now(),"
            " now() + interval '1 day')"
        ),
        {
            "id": new_id(),
            "org_id": org.uuid,
            "session_id": session_id,
            "agent_id": "main",
            "environment": "e",
            **fields,
        },
    )


class Span(NamedTuple):
    """The start and the end of an action, by PostgreSQL's clock."""

    began: datetime
    ended: datetime

    def planned(self, at: datetime, low: float, high: float | None = None) -> bool:
        """Returns whether `at` is `low` to `high` seconds after some moment of it.

        `high` is `low` by default. Unlike a distance from now, this stays true however late it is
        checked.
        """
        most = low if high is None else high
        return self.began + timedelta(seconds=low) <= at <= self.ended + timedelta(seconds=most)


@dataclass
class Bench:
    """One organization, its evaluator, and a worker that runs on demand.

    Only this organization may use the evaluator, so jobs of other tests stay out of the way.
    """

    runtime: Runtime
    org: Org
    evaluator: Evaluator

    def __post_init__(self) -> None:
        self.configure()

    def configure(self, **settings: Any) -> None:
        """Sets variables of the evaluator for later calls."""
        values = {
            "evaluator_endpoint": self.evaluator.url,
            "evaluator_orgs": self.org.slug,
            "evaluator_request_timeout_ms": 10_000,
            **settings,
        }
        self.runtime = replace(
            self.runtime, settings=msgspec.structs.replace(self.runtime.settings, **values)
        )

    def give_time_for(self, answer: Answer) -> None:
        """Lets calls wait long enough for `answer`, but not long for one that never comes."""
        self.configure(**({"evaluator_request_timeout_ms": 500} if answer is hang else {}))

    def store(self, session_id: str, *types: str, **fields: object) -> None:
        """Stores events of these types, a second apart, and queues the session for promotion."""
        lines = [
            event(session_id, f"10:00:{second:02}", event_type, **fields)
            for second, event_type in enumerate(types)
        ]
        store_events(self.runtime.clickhouse, self.org.id, lines)
        self.watch(session_id, has_end="agent_end" in types)

    def watch(self, session_id: str, *, has_end: bool, idle_only: bool = False) -> None:
        """Reports that events of the session were stored, as a drain does."""
        stored = StoredSession(
            self.org.uuid,
            self.org.slug,
            session_id,
            has_agent_end=has_end,
            idle_only=idle_only,
        )
        with self.runtime.postgres.transaction() as session:
            watch(session, self.runtime.settings, [stored])

    def enqueue(self, *session_ids: str) -> None:
        """Creates sessions that ended, quiet for long enough, and their jobs."""
        for session_id in session_ids:
            self.store(session_id, "agent_start", "agent_end")
        self.pass_time(60)
        self.promote()

    def promote(self) -> int:
        """Creates the jobs of sessions that ended or went quiet."""
        stores = (self.runtime.postgres, self.runtime.clickhouse, self.runtime.settings)
        return promotion.promote_ended(*stores) + promotion.promote_inactive(*stores)

    def run(self) -> int:
        """Calls the evaluator for all due jobs, then stores the results.

        Returns the number of calls.
        """
        client = default_client(self.runtime.settings)
        try:
            handled = EvaluationDispatcher(
                self.runtime, DefaultEvaluator(self.runtime, client), threading.Event()
            ).run()
        finally:
            client.close()
        stores = self.runtime.postgres, self.runtime.clickhouse
        storing.store_results(*stores, storing.OF_DEFAULT)
        return handled

    def run_later(self) -> int:
        """Ends every wait of this organization's jobs, then calls `run`."""
        self.sql("UPDATE evaluation_jobs SET next_attempt_at = now() WHERE org_id = :org_id")
        return self.run()

    def timed(self, work: Callable[[], _Result]) -> tuple[_Result, Span]:
        """Returns the result of `work` and the time span of its run."""
        began = self._clock()
        result = work()
        return result, Span(began, self._clock())

    def pass_time(self, seconds: float) -> None:
        """Moves all times in the organization's rows further into the past."""
        by = {"by": seconds}
        for table, columns in (
            ("watched_sessions", ("last_arrival_at", "waiting_since", "check_at")),
            (
                "evaluation_jobs",
                ("next_attempt_at", "poll_deadline_at", "lease_expires_at", "enqueued_at"),
            ),
            ("evaluator_breakers", ("since", "retry_at")),
        ):
            moved = ", ".join(f"{name} = {name} - make_interval(secs => :by)" for name in columns)
            rows = "true" if table == "evaluator_breakers" else "org_id = :org_id"
            self.sql(f"UPDATE {table} SET {moved} WHERE {rows}", **by)

    def config(self, **values: float) -> None:
        """Sets the next answers of the evaluator's /config."""
        with self.runtime.postgres.transaction() as session:
            take_refresh(session, self.runtime.settings, force=True)
            remember(session, self.runtime.settings, EvaluatorTimings(**values))

    def jobs(self) -> Sequence[RowMapping]:
        """Returns all jobs of the organization, oldest first.

        `wait`: seconds to the next attempt.
        """
        return self.sql(
            "SELECT *, extract(epoch FROM next_attempt_at - now())::float AS wait"
            " FROM evaluation_jobs WHERE org_id = :org_id ORDER BY enqueued_at, session_id"
        )

    def job(self) -> RowMapping:
        """Returns the only job."""
        [only] = self.jobs()
        return only

    def results(self) -> list[Evaluation]:
        """Returns the rows that GET /evaluations would list."""
        return list(
            page(
                self.runtime.clickhouse, self.org.id, EvaluationFilters(), limit=200, cursor=None
            ).rows
        )

    def result(self) -> Evaluation:
        """Returns the only result."""
        [only] = self.results()
        return only

    def sql(self, statement: str, **params: object) -> Sequence[RowMapping]:
        """Runs SQL with `:org_id` bound."""
        with self.runtime.postgres.transaction() as session:
            result = session.connection().execute(
                text(statement), {"org_id": self.org.uuid, **params}
            )
            return result.mappings().all() if result.returns_rows else []

    def clean_up(self) -> None:
        """Deletes the jobs, so that their leases count in no other test."""
        self.sql("DELETE FROM evaluation_jobs WHERE org_id = :org_id")
        self.sql("DELETE FROM watched_sessions WHERE org_id = :org_id")
        self.sql("DELETE FROM evaluator_config")
        self.sql("DELETE FROM evaluator_breakers")

    def _clock(self) -> datetime:
        [row] = self.sql("SELECT clock_timestamp() AS now")
        now: datetime = row["now"]
        return now
