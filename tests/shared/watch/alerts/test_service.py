"""Concurrent changes of rules."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from shared.foundation.core.errors import Conflict
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres.room import Room
from shared.watch.alerts import service as alerts
from shared.watch.alerts.models import Alert
from shared.watch.alerts.rules import AlertContent
from tests.support.alerts import SPECS
from tests.support.runtime import Org


def content(**changes: object) -> AlertContent:
    """Returns a rule as people send it."""
    fields: dict[str, object] = {
        "name": "an alert",
        "description": None,
        "enabled": True,
        "trigger_kind": "per_event",
        "trigger_spec": SPECS["per_event"],
        "severity": "info",
        "min_breaches": 1,
        "eval_window": 1,
        "eval_interval_secs": 60,
        "channels": [],
        **changes,
    }
    return AlertContent(**fields)  # type: ignore[arg-type] # each value fits its field


def created(runtime: Runtime, org: Org) -> str:
    """Creates a rule and returns its id."""
    with runtime.postgres.transaction() as session:
        alert, _ = alerts.create(session, org.uuid, content(), schema="", created_by="t")
        return str(alert.id)


def test_changes_at_the_same_time_are_all_counted(runtime: Runtime, org: Org) -> None:
    alert_id = created(runtime, org)

    def change(number: int) -> None:
        with runtime.postgres.transaction() as session:
            wanted = content(eval_interval_secs=100 + number)
            alerts.replace(session, org.uuid, alert_id, wanted, schema="")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(8)))
    with runtime.postgres.transaction() as session:
        assert session.scalar(select(Alert.revision).where(Alert.org_id == org.uuid)) == 9


def test_an_organization_has_so_many_rules_and_no_more(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerts, "ROOM", Room(rows=2, total_bytes=10_000))
    created(runtime, org)
    alert_id = created(runtime, org)
    with pytest.raises(Conflict, match="at most 2 alerts"):
        created(runtime, org)
    with runtime.postgres.transaction() as session:
        long = content(description="d" * 10_000)
        with pytest.raises(Conflict, match="in total"):
            alerts.replace(session, org.uuid, alert_id, long, schema="")
