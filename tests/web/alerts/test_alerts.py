"""Alert rules over HTTP: stored as sent, checked when saved."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, update

from shared.foundation.core.clock import now
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.models import Alert, AlertState
from tests.support.alerts import SPECS, make_alert
from tests.support.app import Headers
from tests.support.dashboards import error, made
from tests.support.people import acting_as, add_member, new_email
from tests.support.runtime import Org

Key = Callable[..., Headers]
Json = dict[str, Any]

PATH = "/v1/alerts"
SET_BY_US = {
    "id",
    "created_by",
    "created_at",
    "updated_at",
    "last_attempted_at",
    "last_error",
    "open_incidents",
}


def state_of(runtime: Runtime, alert_id: str) -> Json:
    """Returns the evaluation state of an alert."""
    columns = AlertState.__table__.c
    with runtime.postgres.transaction() as session:
        query = select(*columns).where(columns.alert_id == UUID(alert_id))
        return dict(session.execute(query).one()._mapping)


def evaluated(runtime: Runtime, alert_id: str) -> None:
    """Pretends that the rule was evaluated and that a worker holds it again."""
    with runtime.postgres.transaction() as session:
        session.execute(
            update(AlertState)
            .where(AlertState.alert_id == UUID(alert_id))
            .values(
                due_at=now(),
                last_attempted_at=now(),
                last_error="none of it",
                evaluated_to=now(),
                recent=[True, False],
                clean=1,
                lease_token=new_id(),
                lease_expires_at=now(),
            )
        )


@pytest.mark.parametrize("kind", SPECS)
def test_an_alert_of_each_kind_from_its_start_to_its_end(
    client: FlaskClient, key: Key, kind: str
) -> None:
    headers = key()
    row = made(make_alert(client, headers, trigger_kind=kind))
    wanted: Json = {
        "name": "an alert",
        "description": None,
        "enabled": True,
        "trigger_kind": kind,
        "trigger_spec": SPECS[kind],
        "severity": "warning",
        "min_breaches": 1,
        "eval_window": 1,
        "eval_interval_secs": 300,
        "channels": [],
    }
    assert wanted.items() <= row.items()
    assert row.keys() - wanted.keys() == SET_BY_US
    assert (row["last_attempted_at"], row["last_error"], row["open_incidents"]) == (None, None, 0)
    path = f"{PATH}/{row['id']}"
    assert client.get(path, headers=headers).get_json() == row
    assert client.get(PATH, headers=headers).get_json() == [row]
    deleted = client.delete(path, headers=headers)
    assert (deleted.status_code, deleted.get_data()) == (204, b"")
    assert client.get(PATH, headers=headers).get_json() == []
    for method in ("get", "put", "delete"):
        answer = getattr(client, method)(path, headers=headers, json={**wanted})
        assert error(answer) == (404, "not_found")


def test_the_newest_come_first(client: FlaskClient, key: Key) -> None:
    headers = key()
    for name in "abc":
        made(make_alert(client, headers, name=name))
    assert [row["name"] for row in client.get(PATH, headers=headers).get_json()] == ["c", "b", "a"]


def test_put_replaces_all_and_gives_defaults_to_what_is_absent_or_null(
    client: FlaskClient, key: Key
) -> None:
    headers = key()
    full = {
        "description": "Why\nso",
        "enabled": False,
        "severity": "critical",
        "min_breaches": 2,
        "eval_window": 3,
        "eval_interval_secs": 60,
        "channels": [{"kind": "email", "recipients": ["A@Example.org "]}, {"kind": "dashboard"}],
    }
    row = made(make_alert(client, headers, **full))
    assert row["channels"][0] == {"kind": "email", "recipients": ["a@example.org"]}
    assert {**full, "channels": row["channels"]}.items() <= row.items()
    bare = {"name": "b", "trigger_kind": "per_event", "trigger_spec": SPECS["per_event"]}
    for body in (bare, {**bare, **dict.fromkeys(full)}):
        put = client.put(f"{PATH}/{row['id']}", json=body, headers=headers)
        assert put.status_code == 200
        told = put.get_json()
        defaults: Json = {
            "description": None,
            "enabled": True,
            "severity": "warning",
            "min_breaches": 1,
            "eval_window": 1,
            "eval_interval_secs": 300,
            "channels": [],
        }
        assert {**bare, **defaults}.items() <= told.items()
        assert told["created_at"] == row["created_at"] < told["updated_at"]


def test_unknown_fields_of_a_spec_are_dropped_and_null_is_absent(
    client: FlaskClient, key: Key
) -> None:
    spec = {
        **SPECS["metric_threshold"],
        "filter": {"tool_name": "t", "colour": "red", "model": None},
        "auto_resolve": True,
        "zone": 1,
    }
    row = made(make_alert(client, key(), trigger_spec=spec))
    assert row["trigger_spec"] == {
        **SPECS["metric_threshold"],
        "filter": {"tool_name": "t"},
        "auto_resolve": True,
    }
    compound = {
        "combinator": "all",
        "conditions": [{"score_key": "a", "op": "eq", "value": 1.5, "weight": 3}],
        "environment": None,
    }
    row = made(make_alert(client, key(), trigger_kind="eval_compound", trigger_spec=compound))
    assert row["trigger_spec"] == {
        "combinator": "all",
        "conditions": [{"score_key": "a", "op": "eq", "value": 1.5}],
    }


def _spec(kind: str, **changes: Any) -> Json:
    wanted = {**SPECS[kind], **changes}
    return {"trigger_kind": kind, "trigger_spec": {k: v for k, v in wanted.items() if v != "-"}}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "n" * 201}, "name"),
        ({"name": None}, "name"),
        ({"description": "d" * 10_001}, "description"),
        ({"enabled": "yes"}, "enabled"),
        ({"enabled": 1}, "enabled"),
        ({"severity": "mild"}, "severity"),
        ({"min_breaches": 0}, "min_breaches"),
        ({"min_breaches": 2}, "min_breaches"),
        ({"eval_window": 0}, "eval_window"),
        ({"eval_window": 101}, "eval_window"),
        ({"eval_window": True}, "eval_window"),
        ({"eval_interval_secs": 29}, "eval_interval_secs"),
        ({"eval_interval_secs": 86_401}, "eval_interval_secs"),
        ({"eval_interval_secs": 60.5}, "eval_interval_secs"),
        ({"channels": {}}, "channels"),
        ({"channels": [{"kind": "pager"}]}, "channels.0.kind"),
        (
            {"channels": [{"kind": "email", "recipients": ["nobody"]}]},
            "channels.0.recipients",
        ),
        (
            {"channels": [{"kind": "webhook", "url_setting_key": "session_ttl_secs"}]},
            "channels.0.url_setting_key",
        ),
        ({"trigger_kind": "weather"}, "trigger_kind"),
        ({"trigger_kind": None}, "trigger_kind"),
        ({"trigger_spec": []}, "trigger_spec"),
        ({"trigger_spec": None}, "trigger_spec"),
        (_spec("metric_threshold", metric="mood"), "trigger_spec.metric"),
        (_spec("metric_threshold", metric="-"), "trigger_spec.metric"),
        (_spec("metric_threshold", op="!="), "trigger_spec.op"),
        (_spec("metric_threshold", value="3"), "trigger_spec.value"),
        (_spec("metric_threshold", value="-"), "trigger_spec.value"),
        (_spec("metric_threshold", window_secs=59), "trigger_spec.window_secs"),
        (_spec("metric_threshold", window_secs=2_592_001), "trigger_spec.window_secs"),
        (_spec("metric_threshold", filter=[]), "trigger_spec.filter"),
        (_spec("metric_threshold", filter={"model": 4}), "trigger_spec.filter.model"),
        (_spec("metric_threshold", filter={"model": ""}), "trigger_spec.filter.model"),
        (_spec("metric_threshold", auto_resolve=1), "trigger_spec.auto_resolve"),
        (_spec("custom_sql", sql="DROP TABLE events"), "trigger_spec.sql"),
        (_spec("custom_sql", sql="SELECT $1"), "trigger_spec.sql"),
        (_spec("custom_sql", sql="-"), "trigger_spec.sql"),
        (_spec("custom_sql", op="-"), "trigger_spec.op"),
        (_spec("custom_sql", value="-"), "trigger_spec.value"),
        (_spec("evaluation_score", min_count=0), "trigger_spec.min_count"),
        (_spec("evaluation_score", score_key="-"), "trigger_spec.score_key"),
        (_spec("eval_compound", conditions=[]), "trigger_spec.conditions"),
        (_spec("eval_compound", conditions=[3]), "trigger_spec.conditions.0"),
        (
            _spec("eval_compound", conditions=[{"score_key": "a", "op": "x", "value": 1}]),
            "trigger_spec.conditions.0.op",
        ),
        (_spec("eval_compound", combinator="none"), "trigger_spec.combinator"),
        (_spec("eval_compound", combinator={"at_least": 0}), "trigger_spec.combinator.at_least"),
        (_spec("eval_compound", combinator={"at_least": 3}), "trigger_spec.combinator.at_least"),
        (_spec("per_event", event_type="-"), "trigger_spec.event_type"),
        (_spec("per_event", lookback_secs="-"), "trigger_spec.lookback_secs"),
        (_spec("per_event", lookback_secs=59), "trigger_spec.lookback_secs"),
    ],
)
def test_a_bad_value_is_refused_and_named(
    client: FlaskClient, key: Key, body: Json, field: str
) -> None:
    headers = key()
    row = made(make_alert(client, headers))
    bad = {"name": "n", "trigger_kind": "metric_threshold", **SPECS, **body}
    bad.setdefault("trigger_spec", SPECS["metric_threshold"])
    for answer in (
        client.post(PATH, json=bad, headers=headers),
        client.put(f"{PATH}/{row['id']}", json=bad, headers=headers),
    ):
        assert answer.status_code == 422, answer.get_json()
        [named] = answer.get_json()["fields"]
        assert named.startswith(field)
    assert client.get(PATH, headers=headers).get_json() == [row]


def test_a_rule_with_another_trigger_starts_again(
    runtime: Runtime, client: FlaskClient, key: Key
) -> None:
    headers = key()
    row = made(make_alert(client, headers))
    path = f"{PATH}/{row['id']}"
    body = {name: row[name] for name in row.keys() - SET_BY_US}
    evaluated(runtime, row["id"])
    before = state_of(runtime, row["id"])

    renamed = {**body, "name": "b", "severity": "critical", "channels": [{"kind": "dashboard"}]}
    told = client.put(path, json=renamed, headers=headers).get_json()
    assert state_of(runtime, row["id"]) == before
    assert told["last_error"] == "none of it"
    assert told["last_attempted_at"] is not None

    client.put(path, json={**renamed, "eval_interval_secs": 60}, headers=headers)
    after = state_of(runtime, row["id"])
    assert after["due_at"] > before["due_at"]
    assert (after["recent"], after["clean"], after["evaluated_to"]) == ([], 0, None)
    assert (after["lease_token"], after["last_error"]) == (None, None)
    # The time of the last attempt stays.
    assert after["last_attempted_at"] == before["last_attempted_at"]


def test_a_disabled_rule_is_not_due_until_it_is_enabled(
    runtime: Runtime, client: FlaskClient, key: Key
) -> None:
    headers = key()
    row = made(make_alert(client, headers, enabled=False))
    assert state_of(runtime, row["id"])["due_at"] is None
    body = {name: row[name] for name in row.keys() - SET_BY_US}
    client.put(f"{PATH}/{row['id']}", json={**body, "enabled": True}, headers=headers)
    assert state_of(runtime, row["id"])["due_at"] is not None


def test_each_change_of_what_is_evaluated_is_a_revision(
    runtime: Runtime, client: FlaskClient, key: Key
) -> None:
    headers = key()
    row = made(make_alert(client, headers))
    body = {name: row[name] for name in row.keys() - SET_BY_US}
    for changes in ({"name": "b"}, {"eval_window": 2}, {"eval_window": 2, "enabled": False}):
        client.put(f"{PATH}/{row['id']}", json={**body, **changes}, headers=headers)
    with runtime.postgres.transaction() as session:
        revision = session.scalar(select(Alert.revision).where(Alert.id == UUID(row["id"])))
    assert revision == 3


def test_recipients_are_the_active_members_by_address(
    runtime: Runtime, client: FlaskClient, key: Key, org: Org
) -> None:
    emails = sorted(new_email() for _ in range(3))
    for email in emails:
        add_member(runtime, org, email=email)
    assert client.get(f"{PATH}/recipients", headers=key("alerts:read")).get_json() == [
        {"email": email} for email in emails
    ]
    assert client.get(f"{PATH}/recipients", headers=key("alerts:write")).status_code == 200
    assert client.get(f"{PATH}/recipients", headers=key("events:read")).status_code == 403


def test_the_author_is_who_asked(runtime: Runtime, client: FlaskClient, org: Org) -> None:
    email = new_email()
    add_member(runtime, org, email=email, permission_set="admin")
    row = made(make_alert(client, acting_as(email)))
    assert row["created_by"] == email


def test_alerts_created_are_counted_when_they_are_gone_too(client: FlaskClient, key: Key) -> None:
    headers = key()
    row = made(make_alert(client, headers))
    made(make_alert(client, headers))
    client.delete(f"{PATH}/{row['id']}", headers=headers)
    usage = client.get("/v1/usage", headers=headers).get_json()["usage"]
    assert usage["alerts_created"] == 2


def test_a_statement_needs_the_permission_to_run_one(client: FlaskClient, key: Key) -> None:
    writer, runner = key("alerts:write"), key("alerts:write", "queries:run")
    body = {"name": "rows", "trigger_kind": "custom_sql", "enabled": False}
    spec = {"sql": "SELECT length(payload) AS metric_value FROM events LIMIT 1"}
    wanted = {**body, "trigger_spec": spec}
    rule = client.post("/v1/alerts", json=wanted, headers=runner).get_json()
    path = f"/v1/alerts/{rule['id']}"
    changed = {**wanted, "trigger_spec": {"sql": "SELECT 2 AS n FROM events"}}
    for answer in (
        client.post("/v1/alerts/preview", json=wanted, headers=writer),
        client.post("/v1/alerts", json=wanted, headers=writer),
        client.put(path, json=changed, headers=writer),
    ):
        assert answer.status_code == 403
        assert answer.get_json()["required_permission"] == "queries:run"
    kept = {**wanted, "trigger_spec": {**spec, "op": ">", "value": 5}, "severity": "info"}
    assert client.put(path, json=kept, headers=writer).status_code == 200
    assert client.put(path, json=changed, headers=runner).status_code == 200


@pytest.mark.parametrize("op", [">", ">=", "<", "<=", "==", "gt", "gte", "lt", "lte", "eq"])
def test_operators_are_kept_as_sign_or_as_name(client: FlaskClient, key: Key, op: str) -> None:
    spec = {**SPECS["metric_threshold"], "op": op}
    assert made(make_alert(client, key(), trigger_spec=spec))["trigger_spec"] == spec


def test_a_test_says_what_became_of_each_delivery(client: FlaskClient, key: Key) -> None:
    headers = key()
    path = f"{PATH}/{made(make_alert(client, headers))['id']}/test"
    told = client.post(path, json={"channels": [{"kind": "dashboard"}]}, headers=headers)
    assert (told.status_code, told.get_json()["ok"]) == (200, True)
    assert told.get_json()["deliveries"] == [
        {"channel": "dashboard", "target": "dashboard", "status": "sent", "error": None}
    ]
