"""Alert rules under test: made due, evaluated by a worker that runs on demand, and read back."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import CursorResult, RowMapping, text

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.slots import OF_ALERTS
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts import service
from shared.watch.alerts.evaluation.dispatcher import AlertDispatcher
from shared.watch.alerts.evaluation.triggers.interface import (
    Evaluate,
    Outcome,
    Rule,
    RuleContext,
    RuleReading,
)
from shared.watch.alerts.rules import AlertContent
from tests.support.alerts import SPECS
from tests.support.runtime import Org

INTERVAL_SECS = 60


def reading(breached: bool) -> RuleReading:
    """Returns a reading of a trigger."""
    return RuleReading(1.0 if breached else 0.0, breached, "a sentence", {"value": 1.0})


def hurry_sleepers(clickhouse: ClickHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives statements that sleep a tenth of their time, and leaves the others all of theirs."""
    rows = clickhouse.rows

    def hurried(sql: str, *args: Any, **kwargs: Any) -> list[Row]:
        if "sleepEachRow" in sql:
            given = kwargs["settings"]
            kwargs["settings"] = {**given, "max_execution_time": given["max_execution_time"] // 10}
        return rows(sql, *args, **kwargs)

    monkeypatch.setattr(clickhouse, "rows", hurried)


@dataclass
class Verdicts:
    """An evaluation with chosen results that records the rules it gets.

    The rules in `breaching` breach. `meanwhile` runs before the answer.
    """

    breaching: set[UUID] = field(default_factory=set)
    meanwhile: Callable[[Sequence[Rule]], None] = lambda _rules: None
    asked: list[list[Rule]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, _context: RuleContext, rules: Sequence[Rule]) -> Mapping[UUID, Outcome]:
        with self._lock:
            self.asked.append(list(rules))
        self.meanwhile(rules)
        return {rule.alert_id: reading(rule.alert_id in self.breaching) for rule in rules}

    @property
    def evaluated(self) -> list[UUID]:
        """The rules of each call."""
        return [rule.alert_id for rules in self.asked for rule in rules]


class Watch:
    """The rules of one organization."""

    def __init__(self, runtime: Runtime, org: Org) -> None:
        self.runtime = runtime
        self.org = org

    def rule(self, kind: str = "metric_threshold", **fields: Any) -> UUID:
        """Creates a rule that is due; by default 1 of 1, every 60 s."""
        with self.runtime.postgres.transaction() as session:
            alert, _ = service.create(
                session, self.org.uuid, self._content(kind, fields), schema="x", created_by="me"
            )
        return alert.id

    def change(self, alert_id: UUID, kind: str = "metric_threshold", **fields: Any) -> None:
        """Replaces a rule."""
        content = self._content(kind, fields)
        with self.runtime.postgres.transaction() as session:
            service.replace(session, self.org.uuid, str(alert_id), content, schema="x")

    def delete(self, alert_id: UUID) -> None:
        """Deletes a rule."""
        with self.runtime.postgres.transaction() as session:
            service.delete(session, self.org.uuid, str(alert_id))

    def make_due(self) -> None:
        """Moves all rules a minute back: each is due, and was evaluated a minute earlier."""
        self.sql(
            "UPDATE alert_states SET due_at = now() - interval '1 second', evaluated_to ="
            " evaluated_to - interval '1 minute' WHERE org_id = :org_id AND due_at IS NOT NULL"
        )

    def end_leases(self) -> None:
        """Ends all leases."""
        self.sql("UPDATE alert_states SET lease_expires_at = now() WHERE org_id = :org_id")

    def run(self, evaluate: Evaluate | None = None, *, is_sql: bool = False) -> int:
        """Runs one turn of a worker; `evaluate` replaces the evaluation of events."""
        given = {} if evaluate is None else {"evaluate": evaluate}
        runner = QueryRunner(self.runtime, pool_size=4, places=OF_ALERTS)
        try:
            return AlertDispatcher(self.runtime, runner, threading.Event(), **given).run(
                is_sql=is_sql
            )
        finally:
            runner.close()

    def state(self, alert_id: UUID) -> RowMapping:
        """Returns the row of `alert_states`."""
        [row] = self.sql("SELECT * FROM alert_states WHERE alert_id = :id", id=alert_id)
        return row

    def incidents(self) -> list[RowMapping]:
        """Returns the rows of `incidents`, oldest first."""
        return self.sql("SELECT * FROM incidents WHERE org_id = :org_id ORDER BY opened_at")

    def sql(self, statement: str, **params: object) -> list[RowMapping]:
        """Returns the rows of a statement. `:org_id` is the organization."""
        with self.runtime.postgres.transaction() as session:
            result = session.execute(text(statement), {"org_id": self.org.uuid, **params})
            rows = isinstance(result, CursorResult) and result.returns_rows
            return list(result.mappings()) if rows else []

    def _content(self, kind: str, fields: Mapping[str, Any]) -> AlertContent:
        given: dict[str, Any] = {
            "name": "an alert",
            "description": None,
            "enabled": True,
            "trigger_kind": kind,
            "trigger_spec": SPECS[kind],
            "severity": "warning",
            "min_breaches": 1,
            "eval_window": 1,
            "eval_interval_secs": INTERVAL_SECS,
            "channels": [],
        }
        return AlertContent(**{**given, **fields})
