"""Budgets that are evaluated at chosen moments."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.evaluation import claims
from shared.watch.alerts.evaluation.triggers.interface import Evaluate
from tests.support.alerting import Watch
from tests.support.events import event, store_events
from tests.support.runtime import Org

# Monday, in winter. Times of a test are of this day.
DAY = "2026-11-02"
BUDGET = {"amount_usd": 50, "period": "month", "forecast": False}


class Budgets:
    """The budgets of an organization, and its calls."""

    def __init__(self, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
        self.watch, self._monkeypatch = watch, monkeypatch
        self._calls = 0

    def budget(self, **spec: Any) -> UUID:
        """Creates a budget of a month that tells the dashboard."""
        return self.watch.rule(
            "budget",
            name="Research",
            trigger_spec={**BUDGET, **spec},
            channels=[{"kind": "dashboard"}],
        )

    def spend(self, cost: str, ts: str, user: str | None = None, **fields: Any) -> None:
        """Stores a call."""
        self._calls += 1
        line = event(
            f"s{self._calls}",
            ts,
            "model_response",
            cost_usd=cost,
            cost_source="computed",
            **({"user_id": user} if user else {}),
            **fields,
        )
        store_events(self.watch.runtime.clickhouse, self.watch.org.id, [line])

    def evaluate(self, at: str) -> list[str]:
        """Evaluates at a time of the day, or at a moment; returns what was told until then."""
        assert self.evaluate_with(None, at) == 1
        return self.told()

    def evaluate_with(self, evaluate: Evaluate | None, at: str) -> int:
        """Evaluates in a given way; returns how many results were recorded."""
        moment = at if "T" in at else f"{DAY}T{at}"
        until = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        self._monkeypatch.setattr(claims, "stored_until_each", lambda *_args: [until])
        self.watch.sql(
            "UPDATE alert_states SET due_at = now(), evaluated_to = NULL WHERE org_id = :org_id"
        )
        return self.watch.run(evaluate)

    def told(self) -> list[str]:
        """Returns the events that channels were told, with their incident's present title."""
        return [
            row["event"]
            for row in self.watch.sql(
                "SELECT event FROM notifications WHERE org_id = :org_id ORDER BY created_at, id"
            )
        ]

    def titles(self) -> list[str]:
        """Returns the titles of all incidents, oldest first."""
        return [row["title"] for row in self.watch.incidents()]


@pytest.fixture
def budgets(runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch) -> Iterator[Budgets]:
    watch = Watch(runtime, org)
    quiet = "UPDATE alert_states SET due_at = NULL, lease_token = NULL, lease_expires_at = NULL"
    watch.sql(quiet)
    yield Budgets(watch, monkeypatch)
    watch.sql(quiet)
