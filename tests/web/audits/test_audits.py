"""Audits over HTTP: stored as sent, returned with the results of their runs."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.foundation.core.clock import format_ts, now
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.schedule import default_anchor, next_point
from shared.watch.audits.signals import NAMES
from tests.support.app import Headers
from tests.support.audits import PATH, AuditBench, finding, make_audit, meanwhile
from tests.support.dashboards import error, made
from tests.support.people import acting_as, add_member, new_email
from tests.support.runtime import Org

Key = Callable[..., Headers]

FULL: dict[str, Any] = {
    "name": "nightly",
    "description": "What broke\nover night",
    "enabled": False,
    "schedule_interval_secs": 7200,
    "schedule_anchor": "2026-01-01T02:30:00.000000Z",
    "window_mode": "fixed",
    "lookback_window_secs": 86_400,
    "scope": {"environments": ["prod", "stage"], "agent_ids": ["booker"]},
    "signals": ["error_cluster", "tool_loop"],
    "ignore_error_types": ["Expected"],
    "sensitivity": "high",
    "top_k": 7,
    "llm_enabled": False,
    "channels": [{"kind": "email", "recipients": ["a@example.com"]}, {"kind": "dashboard"}],
}


@pytest.fixture
def bench(runtime: Runtime, org: Org) -> AuditBench:
    """The audits of the test's organization."""
    return AuditBench(runtime, org)


def moment(text: str) -> datetime:
    """Returns a moment of an answer."""
    return datetime.fromisoformat(text)


def put(client: FlaskClient, headers: Headers, audit_id: str, **body: Any) -> TestResponse:
    """Sends PUT /audits/{id}."""
    return client.put(f"{PATH}/{audit_id}", json={"name": "audit", **body}, headers=headers)


def test_an_audit_with_only_a_name_has_the_defaults(client: FlaskClient, key: Key) -> None:
    row = made(make_audit(client, key("audits:write")))
    assert {name: row[name] for name in FULL} == {
        "name": "audit",
        "description": None,
        "enabled": True,
        "schedule_interval_secs": 86_400,
        "schedule_anchor": format_ts(default_anchor(moment(row["created_at"]))),
        "window_mode": "since_last",
        "lookback_window_secs": 604_800,
        "scope": {"environments": [], "agent_ids": []},
        "signals": [],
        "ignore_error_types": [],
        "sensitivity": "medium",
        "top_k": 50,
        "llm_enabled": True,
        "channels": [],
    }
    assert row["next_attempt_at"] == row["created_at"] == row["updated_at"]
    others = row.keys() - FULL.keys() - {"id", "created_by"}
    assert {name: row[name] for name in others if not name.endswith("ed_at")} == {
        "next_attempt_at": row["created_at"],
        "open_findings": 0,
        "last_run_status": None,
        "last_error": None,
        "additional_context": "",
        "reference_url_count": 0,
    }
    assert row["last_run_finished_at"] is row["last_attempted_at"] is None


def test_an_audit_is_kept_as_it_is_sent(client: FlaskClient, key: Key) -> None:
    headers = key("audits:read", "audits:write")
    row = made(make_audit(client, headers, **FULL))
    assert FULL.items() <= row.items()
    assert row["next_attempt_at"] is None
    assert client.get(f"{PATH}/{row['id']}", headers=headers).get_json() == row
    assert client.get(PATH, headers=headers).get_json() == [row]


def test_absent_and_null_fields_of_a_change_stay(client: FlaskClient, key: Key) -> None:
    headers = key()
    row = made(make_audit(client, headers, **FULL))
    nothing = dict.fromkeys(FULL.keys() - {"name", "description"})
    for body in ({}, nothing):
        changed = put(client, headers, row["id"], name="other", **body).get_json()
        assert changed == {**row, "name": "other", "updated_at": changed["updated_at"]}
        assert changed["updated_at"] > row["updated_at"]
    changed = put(client, headers, row["id"], top_k=9, scope={"agent_ids": ["x"]}).get_json()
    assert changed["top_k"] == 9
    assert changed["scope"] == {"environments": [], "agent_ids": ["x"]}
    assert put(client, headers, row["id"], description=None).get_json()["description"] is None
    assert error(client.put(f"{PATH}/{row['id']}", json={}, headers=headers)) == (422, "invalid")


def test_the_newest_come_first(client: FlaskClient, key: Key) -> None:
    headers = key()
    for number in range(3):
        made(make_audit(client, headers, name=f"audit {number}"))
    listed = client.get(PATH, headers=headers).get_json()
    assert [row["name"] for row in listed] == ["audit 2", "audit 1", "audit 0"]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": None}, "name"),
    ({"name": " "}, "name"),
    ({"name": "n" * 201}, "name"),
    ({"description": "a\x00b"}, "description"),
    ({"description": "d" * 10_001}, "description"),
    ({"enabled": "yes"}, "enabled"),
    ({"enabled": 0}, "enabled"),
    ({"schedule_interval_secs": 3599}, "schedule_interval_secs"),
    ({"schedule_interval_secs": 604_801}, "schedule_interval_secs"),
    ({"schedule_interval_secs": 3600.5}, "schedule_interval_secs"),
    ({"schedule_anchor": "tomorrow"}, "schedule_anchor"),
    ({"schedule_anchor": "2026-01-01T09:00:00"}, "schedule_anchor"),
    ({"schedule_anchor": "1969-12-31T23:59:59Z"}, "schedule_anchor"),
    ({"window_mode": "rolling"}, "window_mode"),
    ({"lookback_window_secs": 3599}, "lookback_window_secs"),
    ({"lookback_window_secs": 7_776_001}, "lookback_window_secs"),
    ({"scope": []}, "scope"),
    ({"scope": {"environments": "prod"}}, "scope.environments"),
    ({"scope": {"agent_ids": [""]}}, "scope.agent_ids.0"),
    ({"scope": {"agent_ids": ["a", "b" * 257]}}, "scope.agent_ids.1"),
    ({"scope": {"environments": [str(n) for n in range(101)]}}, "scope.environments"),
    ({"signals": ["error_cluster", "mood"]}, "signals"),
    ({"signals": "error_cluster"}, "signals"),
    ({"ignore_error_types": ["a\x00b"]}, "ignore_error_types.0"),
    ({"sensitivity": "paranoid"}, "sensitivity"),
    ({"top_k": 0}, "top_k"),
    ({"top_k": 501}, "top_k"),
    ({"llm_enabled": 1.5}, "llm_enabled"),
    ({"channels": {}}, "channels"),
    ({"channels": [{"kind": "pigeon"}]}, "channels.0.kind"),
    ({"channels": [{"kind": "email", "recipients": ["nobody"]}]}, "channels.0.recipients"),
]


@pytest.mark.parametrize(("body", "field"), BAD)
def test_bad_values_are_refused_by_name(
    client: FlaskClient, key: Key, body: dict[str, Any], field: str
) -> None:
    headers = key()
    response = make_audit(client, headers, **body)
    assert response.status_code == 422
    assert response.get_json()["fields"].keys() == {field}
    if body != {"name": None}:
        audit_id = made(make_audit(client, headers, enabled=False))["id"]
        changed = put(client, headers, audit_id, **body)
        assert changed.status_code == 422
        assert changed.get_json()["fields"].keys() == {field}


@pytest.mark.parametrize(
    "body",
    [
        {"schedule_interval_secs": 3600, "lookback_window_secs": 3600, "top_k": 1},
        {"schedule_interval_secs": 604_800, "lookback_window_secs": 7_776_000, "top_k": 500},
        {"signals": list(NAMES)},
        {"schedule_anchor": "1970-01-01T00:00:00.000000Z"},
    ],
)
def test_values_at_their_bounds_are_taken(
    client: FlaskClient, key: Key, body: dict[str, Any]
) -> None:
    assert body.items() <= made(make_audit(client, key(), **body)).items()


def test_an_anchor_lies_at_most_a_year_ahead(client: FlaskClient, key: Key) -> None:
    headers = key()
    year = timedelta(days=365)
    near, far = (format_ts(now() + year + by) for by in (timedelta(minutes=-1), timedelta(hours=1)))
    assert made(make_audit(client, headers, schedule_anchor=near))["schedule_anchor"] == near
    refused = make_audit(client, headers, schedule_anchor=far)
    assert refused.get_json()["fields"] == {"schedule_anchor": ["must be at most 365 days ahead"]}


def test_signals_and_values_are_kept_once_each(client: FlaskClient, key: Key) -> None:
    body = {
        "signals": ["tool_loop", "error_cluster", "tool_loop"],
        "ignore_error_types": ["b", "a", "b"],
    }
    row = made(make_audit(client, key(), **body))
    assert row["signals"] == ["error_cluster", "tool_loop"]
    assert row["ignore_error_types"] == ["b", "a"]


def test_the_zone_of_an_anchor_is_that_of_the_answer(client: FlaskClient, key: Key) -> None:
    row = made(make_audit(client, key(), schedule_anchor="2026-01-01T09:00:00+02:00"))
    assert row["schedule_anchor"] == "2026-01-01T07:00:00.000000Z"


def test_an_audit_that_is_disabled_and_enabled_again_waits_for_its_next_point(
    client: FlaskClient, key: Key
) -> None:
    headers = key()
    anchor = datetime(2026, 1, 1, 2, tzinfo=UTC)
    row = made(make_audit(client, headers, schedule_anchor=format_ts(anchor)))
    assert put(client, headers, row["id"], enabled=False).get_json()["next_attempt_at"] is None
    enabled = put(client, headers, row["id"], enabled=True).get_json()
    due = next_point(moment(enabled["updated_at"]), anchor, 86_400)
    assert moment(enabled["next_attempt_at"]) == due


def test_the_creator_of_an_audit_stays(
    client: FlaskClient, runtime: Runtime, web_runtime: Runtime, org: Org, key: Key
) -> None:
    email = new_email()
    add_member(runtime, org, email=email)
    row = made(make_audit(client, acting_as(email, org.slug)))
    assert row["created_by"] == email
    assert put(client, key(), row["id"]).get_json()["created_by"] == email


def test_an_organization_has_room_for_five_hundred_audits(
    client: FlaskClient, bench: AuditBench, key: Key
) -> None:
    headers = key()
    row = made(make_audit(client, headers, enabled=False))
    columns = (
        "org_id, name, enabled, schedule_interval_secs, schedule_anchor, window_mode,"
        " lookback_window_secs, scope, signals, ignore_error_types, sensitivity, top_k,"
        " llm_enabled, channels, created_by"
    )
    bench.sql(
        f"INSERT INTO audits (id, {columns}) SELECT gen_random_uuid(), {columns} FROM audits,"
        " generate_series(1, 499) WHERE org_id = :org_id"
    )
    assert error(make_audit(client, headers)) == (409, "too_many")
    assert put(client, headers, row["id"]).status_code == 200


def test_the_row_of_an_audit_shows_its_last_run(
    client: FlaskClient, bench: AuditBench, key: Key
) -> None:
    headers = key()
    path = f"{PATH}/{made(make_audit(client, headers))['id']}"
    bench.schedule()
    waiting = client.get(path, headers=headers).get_json()
    assert (waiting["last_run_status"], waiting["last_attempted_at"]) == (None, None)
    seen: list[Any] = []
    look = meanwhile(lambda: seen.append(client.get(path, headers=headers).get_json()))
    bench.run({"test": look})
    bench.sql("UPDATE audits SET next_attempt_at = now() WHERE org_id = :org_id")
    bench.schedule()
    bench.run({"test": finding("a", "b")})
    ended = client.get(path, headers=headers).get_json()
    [running] = seen
    assert (running["last_run_status"], running["last_run_finished_at"]) == ("running", None)
    assert (ended["last_run_status"], ended["open_findings"]) == ("succeeded", 2)
    assert ended["last_run_finished_at"] > ended["last_attempted_at"] > running["last_attempted_at"]
    assert client.get(PATH, headers=headers).get_json() == [ended]


def test_a_deleted_audit_is_gone_with_its_runs_and_findings(
    client: FlaskClient, bench: AuditBench, key: Key
) -> None:
    headers = key()
    path = f"{PATH}/{made(make_audit(client, headers))['id']}"
    bench.schedule()
    bench.run({"test": finding("leak", severity="critical")})
    deleted = client.delete(path, headers=headers)
    assert (deleted.status_code, deleted.data) == (204, b"")
    for gone in (path, f"{path}/runs", f"{path}/context"):
        assert error(client.get(gone, headers=headers)) == (404, "not_found")
    assert error(client.delete(path, headers=headers)) == (404, "not_found")
    assert error(client.post(f"{path}/run", headers=headers)) == (404, "not_found")
    assert bench.runs() == bench.findings() == []
    # The incident stays and reports that its finding is gone.
    [incident] = bench.sql("SELECT * FROM incidents WHERE org_id = :org_id")
    assert incident["source_finding_id"] is None
