"""GET /v1/budgets, and the tool that answers with it."""

import json
from collections.abc import Callable
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from shared.assistant.asker import Asker
from shared.assistant.tools.table import call
from shared.foundation.core.clock import format_ts, now
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.events import store_events
from tests.support.runtime import Org, make_org
from web.state import state

SPEC: dict[str, Any] = {"amount_usd": 10, "period": "month", "group_by": "user_id"}


def spend(runtime: Runtime, org: Org, *costs: tuple[str | None, str | None]) -> None:
    """Stores calls of this moment, each by a user and with a cost; None is none."""
    lines = [
        {
            "session_id": f"s-{place}",
            "timestamp": format_ts(now()),
            "type": "model_response",
            "cost_source": "computed" if cost else "unpriced",
            **({"cost_usd": cost} if cost else {}),
            **({"user_id": user} if user else {}),
        }
        for place, (user, cost) in enumerate(costs)
    ]
    store_events(runtime.clickhouse, org.id, [json.dumps(line).encode() for line in lines])


def add(client: FlaskClient, headers: Headers, name: str, **spec: Any) -> str:
    body = {"name": name, "trigger_kind": "budget", "trigger_spec": {**SPEC, **spec}}
    answer = client.post("/v1/alerts", json={**body, "severity": "info"}, headers=headers)
    assert answer.status_code == 201, answer.get_json()
    return str(answer.get_json()["id"])


def budgets(client: FlaskClient, headers: Headers) -> list[dict[str, Any]]:
    answer = client.get("/v1/budgets", headers=headers)
    assert answer.status_code == 200, answer.get_json()
    found: list[dict[str, Any]] = answer.get_json()["budgets"]
    return found


def test_the_highest_share_is_first(
    client: FlaskClient, runtime: Runtime, org: Org, key: Callable[..., Headers]
) -> None:
    headers = key("alerts:read", "alerts:write")
    spend(runtime, org, ("zoe", "4.5"), ("zoe", "3.25"), ("ann", "1"), (None, "2"), ("ann", None))
    by_user = add(client, headers, "by user")
    whole = add(client, headers, "whole", group_by=None, amount_usd=20, forecast=False)
    rows = budgets(client, headers)
    assert [
        (row["alert_id"], row["group"], row["spent_usd"], row["share"], row["unpriced_calls"])
        for row in rows
    ] == [
        (by_user, {"user_id": "zoe"}, 7.75, 0.775, 0),
        (whole, None, 10.75, 0.5375, 1),
        (by_user, {"user_id": None}, 2, 0.2, 0),
        (by_user, {"user_id": "ann"}, 1, 0.1, 1),
    ]
    assert {(row["period"], row["level"], row["incident_id"]) for row in rows} == {
        ("month", None, None)
    }


def test_another_organization_sees_none(
    client: FlaskClient, runtime: Runtime, org: Org, key: Callable[..., Headers]
) -> None:
    spend(runtime, org, ("zoe", "4.5"))
    add(client, key("alerts:write"), "by user")
    other = new_key(runtime, make_org(runtime), ("alerts:read", "alerts:write"))
    assert budgets(client, other) == []
    add(client, other, "theirs", group_by=None)
    [row] = budgets(client, other)
    assert (row["name"], row["spent_usd"]) == ("theirs", 0)


def test_the_tool_answers_as_the_route_does(
    app: Flask, client: FlaskClient, runtime: Runtime, org: Org, key: Callable[..., Headers]
) -> None:
    headers = key("alerts:read", "alerts:write")
    spend(runtime, org, ("zoe", "4.5"))
    alert_id = add(client, headers, "by user")
    with app.app_context():
        queries = state().queries
    asker = Asker(runtime, queries, org.uuid, org.slug, frozenset({"alerts:read"}), "a test")
    found = call(asker, "list_budgets", b"{}").value["budgets"]
    [link] = {row.pop("link") for row in found}
    assert found == budgets(client, headers)
    assert f"/o/{org.slug}/alerts/{alert_id}" in link
