"""Audits over HTTP, and a bench that carries out their runs on demand."""

import json
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import RowMapping, text
from werkzeug.test import TestResponse

from shared.foundation.core.clock import format_ts, now
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits import service
from shared.watch.audits.models import Audit
from shared.watch.audits.runs import requests as runs
from shared.watch.audits.runs.report import Ask
from shared.watch.audits.runs.runner import AuditRunner
from shared.watch.audits.runs.scheduling import schedule
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Find, Look
from tests.support.app import Headers
from tests.support.looks import ingest
from tests.support.runtime import Org

PATH = "/v1/audits"


def make_audit(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    """Sends POST /audits, with the default name `audit`."""
    return client.post(PATH, json={"name": "audit", **body}, headers=headers)


def candidate(look: Look, name: str = "timeout", **fields: Any) -> Candidate:
    """Returns a warning of this name that cites the session `s1`, seen all over the window."""
    values: dict[str, Any] = {
        "signal": "test",
        "key": (name,),
        "title": f"Errors: {name}",
        "category": "errors",
        "failure_type": name,
        "kind": "failure",
        "severity": "warning",
        "magnitude": "medium",
        "affected_sessions": 1,
        "first_seen_at": look.window.start,
        "last_seen_at": look.window.stop - timedelta(microseconds=1),
        "description": f"{name} in a session",
        "session_ids": ("s1",),
        "event_ids": (1,),
        "numbers": {"sessions": 1},
        "queries": (EvidenceQuery("The numbers", "SELECT 1 AS sessions"),),
        **fields,
    }
    return Candidate(**values)


def finding(*names: str, **fields: Any) -> Find:
    """Returns a signal that finds patterns of these names in any window."""
    return lambda look: [candidate(look, name, **fields) for name in names]


@dataclass
class AuditBench:
    """The audits of one organization, and a worker that runs on demand."""

    runtime: Runtime
    org: Org

    def make(self, **fields: Any) -> Audit:
        """Creates an audit of the last hour, due at once."""
        wanted = {"name": "audit", "lookback_window_secs": 3600, **fields}
        with self.runtime.postgres.transaction() as session:
            return service.create(
                session, self.runtime.queue, self.org.uuid, wanted, created_by="t"
            ).audit

    def store(self, *session_ids: str, secs_ago: float = 60, **fields: object) -> None:
        """Stores an event of each session."""
        at = format_ts(now() - timedelta(seconds=secs_ago))
        lines = [
            json.dumps({"timestamp": at, "session_id": one, "type": "error", **fields}).encode()
            for one in session_ids
        ]
        ingest(self.runtime.clickhouse, self.org.id, lines)

    def request(self, audit: Audit) -> uuid.UUID:
        """Requests a run."""
        with self.runtime.postgres.transaction() as session:
            return runs.request(session, self.runtime.queue, self.org.uuid, str(audit.id))

    def schedule(self) -> None:
        """Queues the due runs and settles them."""
        schedule(self.runtime.postgres, self.runtime.queue)
        self.settle()

    def settle(self) -> None:
        """Makes queued runs old enough to start."""
        self.sql(
            "UPDATE audit_runs SET queued_at = queued_at - interval '10 s'"
            " WHERE org_id = :org_id AND status = 'queued'"
        )

    def run(
        self,
        signals: Mapping[str, Find] | None = None,
        *,
        ask: Ask | None = None,
        stopping: threading.Event | None = None,
    ) -> int:
        """Carries out the waiting runs of the organization. Returns their number."""
        self.settle()
        return AuditRunner(
            self.runtime,
            stopping or threading.Event(),
            ask=ask,
            signals=signals or {"test": finding("timeout")},
            org_id=self.org.uuid,
        ).run()

    def end_lease(self) -> None:
        """Ends all leases, as after a minute without a renewal."""
        self.sql(
            "UPDATE audit_runs SET lease_expires_at = lease_expires_at - interval '61 s'"
            " WHERE org_id = :org_id"
        )

    def audit(self) -> RowMapping:
        """Returns the only audit."""
        [only] = self.sql("SELECT * FROM audits WHERE org_id = :org_id")
        return only

    def runs(self) -> Sequence[RowMapping]:
        """Returns all runs, the oldest first."""
        return self.sql("SELECT * FROM audit_runs WHERE org_id = :org_id ORDER BY queued_at")

    def last_run(self) -> RowMapping:
        """Returns the newest run."""
        return self.runs()[-1]

    def findings(self) -> Sequence[RowMapping]:
        """Returns all findings, by title."""
        return self.sql("SELECT * FROM findings WHERE org_id = :org_id ORDER BY title")

    def sql(self, statement: str, **params: object) -> Sequence[RowMapping]:
        """Runs SQL with `:org_id` bound."""
        with self.runtime.postgres.transaction() as session:
            result = session.connection().execute(
                text(statement), {"org_id": self.org.uuid, **params}
            )
            return result.mappings().all() if result.returns_rows else []


def meanwhile(do: Callable[[], object], *, then: Find | None = None) -> Find:
    """Returns a signal that first does something else, and then finds the result of `then`."""

    def find(look: Look) -> list[Candidate]:
        do()
        return [] if then is None else then(look)

    return find
