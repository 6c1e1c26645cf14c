"""A budget told by the workers of the Procfile, one of which is killed before it delivers."""

import pytest

from shared.foundation.core.clock import format_ts, now
from shared.foundation.deployment.runtime import Runtime
from tests.support import evaluator as behave
from tests.support.alerting import Watch
from tests.support.events import event, store_events
from tests.support.notifications import WEBHOOK, Desk
from tests.support.processes import running, wait_until
from tests.support.receivers import running_receiver
from tests.support.runtime import Org, make_org

pytestmark = pytest.mark.flow


def test_a_level_is_told_once_whatever_dies_between_its_incident_and_its_delivery(
    runtime: Runtime, org: Org
) -> None:
    watch, other = Watch(runtime, org), make_org(runtime)
    for user, cost in (("zoe", "50"), ("max", "49.99")):
        given = {"cost_usd": cost, "cost_source": "computed", "user_id": user}
        line = event("s " + user, "12:00:00", "model_response", timestamp=format_ts(now()), **given)
        for one in (org, other):
            store_events(runtime.clickhouse, one.id, [line])
    spec = {"amount_usd": 50, "period": "month", "levels": [100], "forecast": False}
    with running_receiver() as receiver:
        desk = Desk(runtime, org)
        desk.set("webhook_default_url", receiver.url)
        settings = desk.runtime.settings
        receiver.script.append(behave.hang)
        spec |= {"group_by": "user_id"}
        fields = {"eval_interval_secs": 3600, "trigger_spec": spec, "channels": [WEBHOOK]}
        rule = watch.rule("budget", **fields)
        with running("workers.clock", settings=settings):
            with running("workers.main", "alerts", settings=settings) as opener:
                wait_until(lambda: len(desk.rows()) == 1)
                opener.kill()
            with running("workers.main", "notifications", settings=settings) as sender:
                wait_until(lambda: len(receiver.deliveries) == 1)
                sender.kill()
            desk.now_due()
            seen = watch.state(rule)["last_attempted_at"]
            watch.sql(
                "UPDATE alert_states SET due_at = now(), evaluated_to = NULL WHERE org_id = :org_id"
            )
            with (
                running("workers.main", "alerts", settings=settings),
                running("workers.main", "alerts", settings=settings),
                running("workers.main", "notifications", settings=settings),
            ):
                wait_until(lambda: watch.state(rule)["last_attempted_at"] > seen)
                wait_until(lambda: {row["status"] for row in desk.rows()} == {"sent"})
        first, second = receiver.deliveries
    assert first.id == second.id
    [incident] = watch.incidents()
    assert incident["breach_group"] == {"user_id": "zoe"}
    assert Watch(runtime, other).incidents() == []
    watch.sql("UPDATE alert_states SET due_at = NULL WHERE org_id = :org_id")
