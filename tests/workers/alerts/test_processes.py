"""Clock and workers as the Procfile starts them."""

from contextlib import ExitStack

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.alerting import Watch
from tests.support.processes import running, wait_until
from tests.support.runtime import make_org

# Longer than the test: an evaluated rule is not due again during the test.
HOURLY = {"eval_window": 10, "eval_interval_secs": 3600}
STATEMENT = {"sql": "SELECT 1 AS metric_value FROM events", "op": "<", "value": 1}

pytestmark = pytest.mark.flow


def test_two_workers_evaluate_what_is_due_once_and_what_a_killed_one_left(runtime: Runtime) -> None:
    watches = [Watch(runtime, make_org(runtime)) for _ in range(3)]
    for watch in watches:
        watch.rule("metric_threshold", **HOURLY)
        watch.rule("per_event", **HOURLY)
        watch.rule("custom_sql", trigger_spec=STATEMENT, **HOURLY)
    watches[0].sql(
        "UPDATE alert_states SET lease_token = alert_id,"
        " lease_expires_at = now() + interval '1 second' WHERE org_id = :org_id"
    )
    with ExitStack() as processes:
        for _ in range(2):
            processes.enter_context(running("workers.main", "alerts", settings=runtime.settings))
        processes.enter_context(running("workers.clock", settings=runtime.settings))
        states = "SELECT * FROM alert_states WHERE org_id = :org_id"
        wait_until(
            lambda: all(row["last_attempted_at"] for watch in watches for row in watch.sql(states))
        )
    for watch in watches:
        for row in watch.sql(states):
            assert (row["recent"], row["clean"], row["last_error"]) == ([False], 1, None)
        watch.sql("UPDATE alert_states SET due_at = NULL WHERE org_id = :org_id")
