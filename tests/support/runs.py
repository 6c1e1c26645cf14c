"""Runs of own evaluators under test: an organization with evaluators, and a worker on demand."""

import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, text

from shared.evaluation.evaluation_jobs import storing
from shared.evaluation.evaluation_jobs.watching import StoredSession
from shared.evaluation.evaluators.addresses import allowed_addresses, origin_of
from shared.evaluation.evaluators.models import Evaluator, EvaluatorVersion
from shared.evaluation.evaluators.secrets import change_secrets
from shared.evaluation.runs import triggers, watching
from shared.evaluation.runs.storing import OF_RUNS
from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.listing import page
from shared.reading.evaluations.records import Evaluation
from tests.support.evaluator import Evaluator as EvaluatorServer
from tests.support.events import event, store_events
from tests.support.runtime import Org
from workers.call_loop import CallLoop
from workers.evaluation_jobs.dispatcher import EvaluationDispatcher
from workers.evaluator_runs.called import CalledRuns
from workers.evaluator_runs.push import PushCalls

_EVALUATOR: dict[str, Any] = {
    "kind": "push",
    "name": "An evaluator",
    "description": "",
    "labels": [],
    "enabled": True,
    "sample": 100,
    "priority": 5,
    "concurrency": 4,
    "timeout_ms": 10_000,
    "max_attempts": 5,
    "poll_max_secs": 3600,
    "rescore": "never",
    "rescore_max": 20,
}


@dataclass
class RunBench:
    """One organization, its evaluators, and a worker that runs on demand."""

    runtime: Runtime
    org: Org
    server: EvaluatorServer
    versions: dict[str, UUID] = field(default_factory=dict)
    allow_private: str | None = "1"

    def add(self, key: str, *, condition: Any = None, **columns: Any) -> UUID:
        """Adds an evaluator with an active version; returns its id."""
        values = {**_EVALUATOR, "key": key, "sample_seed": key, "enabled_since": now(), **columns}
        with self.runtime.postgres.transaction() as session:
            evaluator = Evaluator(org_id=self.org.uuid, **values)
            session.add(evaluator)
            session.flush()
            version = EvaluatorVersion(
                org_id=self.org.uuid,
                evaluator_id=evaluator.id,
                version="1",
                number=1,
                note="",
                spec={"url": self.server.url, "headers": {}},
                condition=condition,
                results=[],
                large="cut",
                checksum="",
            )
            session.add(version)
            session.flush()
            evaluator.active_version_id = version.id
            self.versions[key] = version.id
            return evaluator.id

    def set_secrets(
        self, evaluator_id: UUID, changes: dict[str, str | None], origin: str | None = None
    ) -> None:
        """Sets secrets of an evaluator, by default for the server's origin."""
        with self.runtime.postgres.transaction() as session:
            evaluator = session.get_one(Evaluator, evaluator_id)
            own = origin or origin_of(self.server.url)
            change_secrets(session, self.runtime.settings, evaluator, own, changes)

    def store(self, session_id: str, *types: str, at: int = 0, **fields: object) -> None:
        """Stores events of these types, a second apart, and reports the session as a drain does."""
        lines = [
            event(session_id, f"10:{at:02}:{second:02}", event_type, **fields)
            for second, event_type in enumerate(types)
        ]
        store_events(self.runtime.clickhouse, self.org.id, lines)
        self.watch(session_id, has_end="agent_end" in types)

    def watch(self, session_id: str, *, has_end: bool, idle_only: bool = False) -> bool:
        """Reports that events of the session were stored."""
        stored = StoredSession(
            self.org.uuid, self.org.slug, session_id, has_agent_end=has_end, idle_only=idle_only
        )
        with self.runtime.postgres.transaction() as session:
            return watching.watch(session, [stored])

    def end(self, *session_ids: str) -> None:
        """Stores sessions that ended, lets them settle, and makes their runs."""
        for session_id in session_ids:
            self.store(session_id, "agent_start", "agent_end")
        self.pass_time(60)
        self.trigger()

    def trigger(self) -> int:
        """Makes the runs of sessions that ended or are idle; returns their number."""
        return triggers.trigger_runs(self.runtime.postgres, self.runtime.clickhouse)

    def run(self) -> int:
        """Calls evaluators for all due runs, then stores the results; returns the outcomes."""
        with closing(CallLoop("own-evaluators")) as loop:
            allowed = allowed_addresses(self.allow_private)
            source = CalledRuns(self.runtime, {"push": PushCalls(loop, allowed)})
            recorded = EvaluationDispatcher(self.runtime, source, threading.Event()).run()
        storing.store_results(self.runtime.postgres, self.runtime.clickhouse, OF_RUNS)
        return recorded

    def pass_time(self, seconds: float) -> None:
        """Moves all times in the organization's rows further into the past."""
        for table, columns in (
            ("session_triggers", ("last_arrival_at", "waiting_since", "end_check_at")),
            ("session_triggers", ("idle_check_at",)),
            ("evaluators", ("enabled_since",)),
            (
                "evaluator_runs",
                ("next_attempt_at", "poll_deadline_at", "lease_expires_at", "enqueued_at"),
            ),
        ):
            moved = ", ".join(f"{name} = {name} - make_interval(secs => :by)" for name in columns)
            self.sql(f"UPDATE {table} SET {moved} WHERE org_id = :org_id", by=seconds)

    def runs(self) -> Sequence[RowMapping]:
        """Returns all runs of the organization by session and key."""
        return self.sql(
            "SELECT run.*, key FROM evaluator_runs AS run"
            " JOIN evaluators ON evaluators.id = evaluator_id"
            " WHERE run.org_id = :org_id ORDER BY session_id, key, enqueued_at"
        )

    def results(self) -> list[Evaluation]:
        """Returns the stored results of own evaluators, the oldest first."""
        found = page(
            self.runtime.clickhouse,
            self.org.id,
            EvaluationFilters(evaluator=["*"]),
            limit=200,
            cursor=None,
        )
        return list(reversed(found.rows))

    def sql(self, statement: str, **params: object) -> Sequence[RowMapping]:
        """Runs SQL with `:org_id` bound."""
        with self.runtime.postgres.transaction() as session:
            result = session.connection().execute(
                text(statement), {"org_id": self.org.uuid, **params}
            )
            return result.mappings().all() if result.returns_rows else []

    def clean_up(self) -> None:
        """Deletes the evaluators with their runs, so that they count in no other test."""
        for table in ("evaluator_runs", "session_triggers", "evaluators"):
            self.sql(f"DELETE FROM {table} WHERE org_id = :org_id")
