"""Usage in 30-day windows from the organization's anchor."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from flask.testing import FlaskClient

from shared.foundation.core.clock import format_ts, now, to_us
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store as evaluations
from tests.support.app import Headers
from tests.support.dashboards import make_dashboard, save_query
from tests.support.evaluations import evaluation
from tests.support.runtime import Org

Key = Callable[..., Headers]
Store = Callable[[Sequence[object]], None]


def test_usage_of_a_new_organization(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, store: Store
) -> None:
    moment = format_ts(now())
    event = {"session_id": "s", "timestamp": moment, "type": "note"}
    for _twice in range(2):
        store([event, {**event, "agent_id": "helper"}, {**event, "session_id": "t"}])
    evaluations.insert(runtime.clickhouse, [evaluation(org.id, "s", to_us(now()))])
    writer = key("queries:write", "dashboards:write")
    for _ in range(2):
        save_query(client, writer)
    make_dashboard(client, writer)
    headers = key("settings:read")
    body = client.get("/v1/usage", headers=headers).get_json()
    assert body["org_id"] == org.id
    assert body["window"]["start"] == body["billing_anchor"] <= moment
    start, end, calculated, stale = (
        datetime.fromisoformat(text)
        for text in (*body["window"].values(), body["calculated_at"], body["stale_after"])
    )
    assert end - start == timedelta(days=30)
    assert stale - calculated == timedelta(seconds=60)
    assert start <= calculated < end
    assert body["usage"] == {
        "events_ingested": 3,
        "sessions": 2,
        "agents": 2,
        "environments": 1,
        "evaluations": 1,
        "evaluation_runs": 1,
        "audit_runs": 0,
        "incidents_opened": 0,
        "alerts_created": 0,
        "queries_created": 2,
        "dashboards_created": 1,
        "assistant_turns": 0,
        "assistant_tokens": 0,
        "users_active": 0,
        # The tests' collector, the key that creates, and the key that reads.
        "keys_active": 3,
    }
    [row] = client.get("/v1/usage/windows", headers=headers).get_json()["windows"]
    assert row == {
        "from": body["window"]["start"],
        "to": body["window"]["end"],
        "events_ingested": 3,
        "evaluations": 1,
    }
