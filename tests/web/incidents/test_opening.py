"""Incidents that people open, and lists of incidents."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.models import Alert
from tests.support.app import Headers, new_key
from tests.support.events import event, store_events
from tests.support.incidents import add_alert, breach, open_incident, opening_of
from tests.support.people import acting_as, add_member, new_email, new_member
from tests.support.runtime import Org, make_org
from tests.web.incidents.conftest import NOBODYS, PATH, Desk


def test_an_alert_has_one_open_incident_that_collects_reports(desk: Desk, alert: Alert) -> None:
    opened = desk.report(alert, title="Checkout is slow")
    assert opened.status_code == 201
    row = opened.get_json()
    assert row == {"id": row["id"], "newly_opened": True, "state": "firing", "source": "manual"}
    again = desk.report(alert)
    assert again.status_code == 200
    assert again.get_json() == {**row, "newly_opened": False}
    [listed] = desk.get("")
    assert listed["title"] == "Checkout is slow"
    assert (listed["alert_id"], listed["alert_name"]) == (str(alert.id), alert.name)
    assert (listed["alert_severity"], listed["trigger_kind"]) == ("critical", "metric_threshold")
    assert (listed["breach_value"], listed["breach_summary"]) == (None, "customers call")
    assert desk.get("/count") == {"count": 1}
    [told] = desk.get(f"/{row['id']}")["notifications"]
    assert (told["channel"], told["event"]) == ("dashboard", "alert.firing")


def test_a_report_of_an_alert_that_fires_says_which_incident_is_open(
    desk: Desk, runtime: Runtime, alert: Alert
) -> None:
    incident = breach(runtime, opening_of(alert)).incident
    answer = desk.report(alert)
    assert answer.status_code == 200
    expected = {"newly_opened": False, "state": "firing", "source": "alert"}
    assert answer.get_json() == {"id": str(incident.id), **expected}


def test_an_incident_without_an_alert_opens_every_time_and_is_announced_nowhere(
    desk: Desk,
) -> None:
    first, second = desk.open(), desk.open(severity="info", title=" Odd ")
    assert first != second
    detail = desk.get(f"/{first}")
    assert (detail["title"], detail["alert_severity"]) == ("customers call", "warning")
    assert detail["source"] == "manual"
    for name in ("alert_id", "alert_name", "trigger_kind", "source_finding_id", "evidence"):
        assert detail[name] is None
    assert detail["notifications"] == detail["comments"] == []
    assert desk.get(f"/{second}")["title"] == "Odd"


def test_a_title_is_the_alerts_name_or_the_first_words(desk: Desk, alert: Alert) -> None:
    desk.report(alert, title=None)
    desk.open(summary="line one\n" + "word " * 40)
    longest, named = (row["title"] for row in desk.get(""))
    assert named == alert.name
    assert longest.startswith("line one word word")
    assert longest.endswith(" word…")
    assert len(longest) <= 80


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("summary", {"summary": None}),
        ("summary", {"summary": " \n "}),
        ("summary", {"summary": "x" * 2001}),
        ("summary", {"summary": "a\x00b"}),
        ("title", {"title": "x" * 201}),
        ("title", {"title": "two\nlines"}),
        ("severity", {"severity": "fatal"}),
    ],
)
def test_bad_fields_are_named(desk: Desk, alert: Alert, field: str, body: dict[str, Any]) -> None:
    answers = [desk.client.post(PATH, json={"summary": "s", **body}, headers=desk.key)]
    if field != "severity":
        answers.append(desk.report(alert, **body))
    for answer in answers:
        assert answer.status_code == 422
        assert list(answer.get_json()["fields"]) == [field]
    assert desk.get("") == []


def test_bounds_are_inclusive_and_unknown_fields_ignored(desk: Desk, alert: Alert) -> None:
    answer = desk.report(alert, summary="x" * 2000, title="y" * 200, more=1)
    assert answer.status_code == 201
    [row] = desk.get("")
    assert (len(row["breach_summary"]), len(row["title"])) == (2000, 200)


@pytest.mark.parametrize("alert_id", [NOBODYS, "nonsense", "incidents"])
def test_an_alert_that_there_is_not_has_no_incidents(desk: Desk, alert_id: str) -> None:
    path = f"/v1/alerts/{alert_id}/incidents"
    assert desk.client.get(path, headers=desk.key).status_code == 404
    posted = desk.client.post(path, json={"summary": "s"}, headers=desk.key)
    assert posted.status_code in (404, 405)


def test_lists_are_newest_first_and_filtered(
    desk: Desk, runtime: Runtime, org: Org, alert: Alert
) -> None:
    other = add_alert(runtime, org)
    ids = [desk.report(one).get_json()["id"] for one in (alert, other)]
    ids += [desk.open(), desk.open()]
    desk.act(ids[0], "resolve")
    desk.act(ids[1], "ack")

    def listed(**query: Any) -> list[int]:
        found = [ids.index(row["id"]) for row in desk.get("", **query)]
        counted = {name: value for name, value in query.items() if name != "limit"}
        if "limit" not in query:
            assert desk.get("/count", **counted) == {"count": len(found)}
        return found

    assert listed() == [3, 2, 1]
    assert listed(state="firing,acknowledged,resolved") == [3, 2, 1, 0]
    assert listed(state="resolved") == [0]
    assert listed(state="acknowledged") == [1]
    assert listed(limit=2) == [3, 2]
    assert listed(limit=5000) == [3, 2, 1]
    assert listed(alert_id=str(other.id)) == [1]
    assert listed(alert_id=str(alert.id)) == []
    assert listed(alert_id=f"{alert.id},{other.id}", state="resolved,acknowledged") == [1, 0]
    assert listed(alert_id="nonsense") == []
    of_alert = f"/v1/alerts/{alert.id}/incidents"
    [row] = desk.client.get(of_alert, headers=desk.key).get_json()
    assert row["id"] == ids[0]
    assert desk.client.get(f"{of_alert}?state=firing", headers=desk.key).get_json() == []


def test_a_list_leaves_out_what_was_resolved_before(desk: Desk) -> None:
    old, recent, open_one = desk.open(), desk.open(), desk.open()
    for one in (old, recent):
        desk.act(one, "resolve")
    since = desk.get(f"/{recent}")["resolved_at"]
    query = {"state": "firing,acknowledged,resolved", "resolved_since": since}
    assert [row["id"] for row in desk.get("", **query)] == [open_one, recent]
    assert desk.get("/count", **query) == {"count": 2}


@pytest.mark.parametrize("query", ["state=open", "state=firing,nonsense", "limit=0", "limit=x"])
def test_a_filter_that_means_nothing_is_refused(desk: Desk, alert: Alert, query: str) -> None:
    for path in (PATH, f"/v1/alerts/{alert.id}/incidents"):
        answer = desk.client.get(f"{path}?{query}", headers=desk.key)
        assert answer.status_code == 422
        assert list(answer.get_json()["fields"]) == [query.partition("=")[0]]


def test_people_are_subscribed_to_what_they_open_and_keys_are_not(
    desk: Desk, runtime: Runtime, org: Org, alert: Alert
) -> None:
    by_key = desk.open()
    assert desk.subscribed(by_key) == {}
    [(kind, robot)] = desk.activity(by_key)
    assert kind == "opened"
    assert robot.startswith("key-")
    email = new_email()
    add_member(runtime, org, email=email)
    by_person = desk.report(alert, headers=acting_as(email, org.slug)).get_json()["id"]
    assert desk.subscribed(by_person) == {email: "creator"}
    assert desk.activity(by_person) == [("opened", email)]


def test_a_key_that_is_named_like_a_person_subscribes_no_member(
    desk: Desk, client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    email, secret = new_email(), "s" * 32 + new_email()
    add_member(runtime, org, email=email)
    wanted = {"name": email, "key": secret, "permissions": ["incidents:write", "incidents:ack"]}
    assert client.post("/v1/keys", json=wanted, headers=desk.key).status_code == 201
    named = {"Authorization": f"Bearer {secret}"}
    incident = desk.open(named)
    assert desk.act(incident, "ack", named).get_json()["acknowledged_by"] == email
    desk.act(incident, "comments", named, body="hm")
    assert desk.subscribed(incident) == {}


def test_incidents_of_others_are_not_there(desk: Desk, runtime: Runtime, alert: Alert) -> None:
    incident = desk.report(alert).get_json()["id"]
    comment = desk.act(incident, "comments", body="hm").get_json()["id"]
    org = make_org(runtime)
    stranger = new_key(runtime, org)
    assert desk.get("", stranger) == []
    assert desk.get("", stranger, alert_id=str(alert.id)) == []
    assert desk.get("/count", stranger) == {"count": 0}
    gets = [f"{PATH}/{incident}{rest}" for rest in ("", "/comments", "/subscribers")]
    for path in (*gets, f"/v1/alerts/{alert.id}/incidents"):
        assert desk.client.get(path, headers=stranger).status_code == 404
    assert desk.report(alert, stranger).status_code == 404
    email = new_email()
    new_member(runtime, org, email=email)
    actions: dict[str, dict[str, Any]] = {
        "ack": {},
        "assign": {"assignees": []},
        "resolve": {},
        "comments": {"body": "hm"},
        "subscribe": {"email": email},
        "unsubscribe": {"email": email},
    }
    for action, body in actions.items():
        assert desk.act(incident, action, stranger, **body).status_code == 404
    assert desk.delete_comment(incident, comment, stranger).status_code == 404
    assert len(desk.activity(incident)) == 2


@pytest.mark.parametrize(
    ("held", "missing"),
    [("incidents:read", "incidents:ack"), ("incidents:ack", "incidents:write")],
)
def test_each_kind_of_route_needs_its_permission(
    desk: Desk, runtime: Runtime, org: Org, alert: Alert, held: str, missing: str
) -> None:
    incident = desk.open()
    limited: Headers = new_key(runtime, org, [held])
    answer = (
        desk.act(incident, "ack", limited)
        if missing == "incidents:ack"
        else desk.report(alert, limited)
    )
    assert answer.status_code == 403
    assert answer.get_json()["required_permission"] == missing


def test_a_reader_sees_the_values_of_the_incidents_rule(
    desk: Desk, runtime: Runtime, org: Org
) -> None:
    spec = {"metric": "event_count", "op": ">", "value": 1, "window_secs": 3600}
    reader = new_key(runtime, org, ["incidents:read"])

    def values(incident_id: str) -> Any:
        return desk.get(f"/{incident_id}/values", headers=reader)

    at = (datetime.now(UTC) - timedelta(minutes=20)).isoformat()
    lines = [event("s", "12:00:00", timestamp=at, n=n) for n in range(2)]
    store_events(runtime.clickhouse, org.id, lines)
    incident = open_incident(runtime, org, trigger_spec=spec)
    drawn = values(str(incident.id))
    assert (drawn["op"], drawn["bound"], drawn["reason"]) == (">", 1, None)
    assert (drawn["points"][0]["value"], drawn["points"][-1]["value"]) == (0, 2)
    of_sql = open_incident(
        runtime, org, trigger_kind="custom_sql", trigger_spec={"sql": "SELECT 1"}
    )
    for other in (str(of_sql.id), desk.open()):
        drawn = values(other)
        assert drawn["points"] == []
        assert drawn["reason"]
