"""People's actions on an incident, in each of its states."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.models import AlertState
from tests.support.app import Headers, new_key
from tests.support.people import acting_as, add_member, new_email
from tests.support.runtime import Org, make_org
from tests.web.incidents.conftest import NOBODYS, PATH, Desk

Person = Callable[..., Headers]

# The actions that lead into a state, and there each action's status and next state.
INTO = {"firing": (), "acknowledged": ("ack",), "resolved": ("ack", "resolve")}
ANSWERS = {
    "ack": {"firing": 200, "acknowledged": 200, "resolved": 409},
    "assign": {"firing": 200, "acknowledged": 200, "resolved": 409},
    "resolve": {"firing": 200, "acknowledged": 200, "resolved": 409},
    "comments": {"firing": 201, "acknowledged": 201, "resolved": 201},
    "subscribe": {"firing": 200, "acknowledged": 200, "resolved": 200},
    "unsubscribe": {"firing": 200, "acknowledged": 200, "resolved": 200},
}
FOLLOWING = {"ack": "acknowledged", "resolve": "resolved"}


@pytest.fixture
def email(runtime: Runtime, org: Org) -> str:
    """The address of a member."""
    address = new_email()
    add_member(runtime, org, email=address)
    return address


@pytest.fixture
def ann(email: str, org: Org) -> Headers:
    """Requests of that member."""
    return acting_as(email, org.slug)


@pytest.mark.parametrize("state", INTO)
@pytest.mark.parametrize("action", ANSWERS)
def test_every_action_in_every_state(desk: Desk, email: str, action: str, state: str) -> None:
    incident = desk.open()
    for step in INTO[state]:
        assert desk.act(incident, step).status_code == 200
    before = desk.get(f"/{incident}")
    assert before["state"] == state
    body: dict[str, Any] = {"assignees": [email], "body": "hm", "email": email}
    answer = desk.act(incident, action, **body)
    assert answer.status_code == ANSWERS[action][state]
    after = desk.get(f"/{incident}")
    if answer.status_code == 409:
        assert answer.get_json()["code"] == "incident_resolved"
        assert after == before
    elif action in FOLLOWING:
        assert after["state"] == FOLLOWING[action]
    else:
        assert after["state"] == state


def test_the_first_acknowledgement_is_kept(desk: Desk, ann: Headers, email: str) -> None:
    incident = desk.open()
    row = desk.act(incident, "ack", ann).get_json()
    assert (row["state"], row["acknowledged_by"]) == ("acknowledged", email)
    assert row["acknowledged_at"] >= row["opened_at"]
    assert desk.act(incident, "ack", ann).get_json() == row
    assert [kind for kind, _ in desk.activity(incident)] == ["opened", "acknowledged"]
    assert desk.subscribed(incident) == {email: "ack"}


def test_a_second_acknowledgement_is_recorded_and_subscribes(
    desk: Desk, runtime: Runtime, org: Org, ann: Headers, email: str
) -> None:
    incident, second = desk.open(), new_email()
    add_member(runtime, org, email=second)
    row = desk.act(incident, "ack", ann).get_json()
    for _ in range(2):
        assert desk.act(incident, "ack", acting_as(second, org.slug)).get_json() == row
    acknowledged = [("acknowledged", email), ("acknowledged", second)]
    assert desk.activity(incident)[1:] == acknowledged
    assert desk.subscribed(incident) == {email: "ack", second: "ack"}


def test_resolving_records_the_actor_and_keeps_the_rest(
    desk: Desk, ann: Headers, email: str
) -> None:
    incident = desk.open()
    desk.act(incident, "ack")
    desk.act(incident, "assign", assignees=[email])
    row = desk.act(incident, "resolve", ann).get_json()
    assert (row["state"], row["resolved_by"], row["assignees"]) == ("resolved", email, [email])
    assert row["resolved_at"] > row["acknowledged_at"]
    assert desk.activity(incident)[-1] == ("resolved", email)
    assert desk.get("") == []


def test_assigning_replaces_the_list(desk: Desk, runtime: Runtime, org: Org, email: str) -> None:
    incident, other = desk.open(), new_email()
    add_member(runtime, org, email=other)
    both = [other, email]
    row = desk.act(incident, "assign", assignees=[f" {other.upper()}", email, other]).get_json()
    assert row["assignees"] == both
    assert desk.subscribed(incident) == dict.fromkeys(both, "assigned")
    assert desk.act(incident, "assign", assignees=both).get_json() == row
    assert desk.act(incident, "assign", assigned_to=email).get_json()["assignees"] == [email]
    assert desk.act(incident, "assign", assigned_to=None).get_json()["assignees"] == []
    detail = desk.get(f"/{incident}")
    told = [one["detail"] for one in detail["activity"] if one["kind"] == "assigned"]
    assert told == [
        {"assignees": both, "before": []},
        {"assignees": [email], "before": both},
        {"assignees": [], "before": [email]},
    ]
    assert {one["email"] for one in detail["subscribers"]} == set(both)


@pytest.mark.parametrize("field", ["assignees", "assigned_to"])
def test_only_active_members_are_assigned(
    desk: Desk, runtime: Runtime, org: Org, field: str, email: str
) -> None:
    incident, disabled, foreign = desk.open(), new_email(), new_email()
    user_id = add_member(runtime, org, email=disabled)
    left = desk.client.delete(f"/v1/users/{user_id}", headers=desk.key)
    assert left.status_code == 200
    add_member(runtime, make_org(runtime), email=foreign)
    for address in (disabled, foreign, "nobody@example.com", "nonsense"):
        body: dict[str, Any] = {field: [email, address] if field == "assignees" else address}
        answer = desk.act(incident, "assign", **body)
        assert answer.status_code == 422
        [reason] = answer.get_json()["fields"][field]
        assert address in reason
    assert desk.get(f"/{incident}")["assignees"] == []


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("assignees", {}),
        ("assignees", {"assignees": None}),
        ("assignees", {"assignees": "a@example.com"}),
        ("assignees", {"assignees": ["a@example.com"] * 51}),
        ("assigned_to", {"assigned_to": 5}),
    ],
)
def test_a_bad_assignment_is_refused(desk: Desk, field: str, body: dict[str, Any]) -> None:
    answer = desk.act(desk.open(), "assign", **body)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == [field]


def test_people_subscribe_themselves_and_others(desk: Desk, ann: Headers, email: str) -> None:
    incident = desk.open()
    answer = desk.act(incident, "subscribe", ann)
    assert (answer.status_code, answer.get_json()) == (200, {"email": email, "subscribed": True})
    assert desk.act(incident, "subscribe", email=email.upper()).get_json()["email"] == email
    assert desk.subscribed(incident) == {email: "manual"}
    answer = desk.act(incident, "unsubscribe", email=email)
    assert answer.get_json() == {"email": email, "subscribed": False}
    assert desk.act(incident, "unsubscribe", ann).status_code == 200
    assert desk.subscribed(incident) == {}
    assert desk.get(f"/{incident}")["subscribers"] == []
    [_, (first, by), (second, _)] = desk.activity(incident)
    assert (first, by, second) == ("subscribed", email, "unsubscribed")


@pytest.mark.parametrize("action", ["subscribe", "unsubscribe"])
def test_a_key_has_to_name_the_subscriber(desk: Desk, action: str) -> None:
    incident = desk.open()
    answer = desk.act(incident, action)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == ["email"]


@pytest.mark.parametrize("address", ["nobody@example.com", "nonsense"])
def test_only_active_members_are_subscribed(desk: Desk, address: str) -> None:
    incident = desk.open()
    answer = desk.act(incident, "subscribe", email=address)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == ["email"]
    assert desk.subscribed(incident) == {}


def test_an_unsubscribed_member_returns_only_by_action_or_assignment(
    desk: Desk, ann: Headers, email: str
) -> None:
    incident = desk.open()
    desk.act(incident, "assign", assignees=[email])
    desk.act(incident, "unsubscribe", ann)
    desk.act(incident, "assign", assignees=[email])
    desk.act(incident, "ack")
    desk.act(incident, "comments", body="hm")
    assert desk.subscribed(incident) == {}
    desk.act(incident, "comments", ann, body="here")
    assert desk.subscribed(incident) == {email: "comment"}
    desk.act(incident, "unsubscribe", ann)
    desk.act(incident, "assign", assignees=[])
    desk.act(incident, "assign", assignees=[email])
    assert desk.subscribed(incident) == {email: "assigned"}


@pytest.mark.parametrize("incident", [NOBODYS, "nonsense"])
def test_an_incident_that_there_is_not(desk: Desk, email: str, incident: str) -> None:
    body: dict[str, Any] = {"assignees": [email], "body": "hm", "email": email}
    for action in ANSWERS:
        assert desk.act(incident, action, **body).status_code == 404
    for rest in ("", "/comments", "/subscribers"):
        path = f"/v1/alerts/incidents/{incident}{rest}"
        assert desk.client.get(path, headers=desk.key).status_code == 404


def test_comments_are_read_oldest_first_and_deleted_ones_leave_a_tombstone(
    desk: Desk, ann: Headers, email: str
) -> None:
    incident = desk.open()
    answer = desk.act(incident, "comments", ann, body=" it is\nthe cache ")
    assert answer.status_code == 201
    first = answer.get_json()
    assert (
        first.items()
        >= {
            "incident_id": incident,
            "author_email": email,
            "body": "it is\nthe cache",
            "edited_at": None,
            "deleted_at": None,
        }.items()
    )
    second = desk.act(incident, "comments", body="ok").get_json()
    assert second["author_email"].startswith("key-")
    assert desk.get(f"/{incident}/comments") == [first, second]
    assert desk.subscribed(incident) == {email: "comment"}
    assert desk.delete_comment(incident, first["id"], ann).status_code == 204
    assert desk.delete_comment(incident, first["id"], ann).status_code == 404
    tombstone, _ = desk.get(f"/{incident}")["comments"]
    assert tombstone == {**first, "body": None, "deleted_at": tombstone["deleted_at"]}
    assert tombstone["deleted_at"] > first["created_at"]
    kinds = [kind for kind, _ in desk.activity(incident)]
    assert kinds == ["opened", "commented", "commented", "comment_deleted"]


def test_deleting_others_comments_needs_incidents_write(
    desk: Desk, runtime: Runtime, org: Org, ann: Headers
) -> None:
    incident = desk.open()
    said = desk.act(incident, "comments", ann, body="hm").get_json()["id"]
    limited = new_key(runtime, org, ["incidents:ack"])
    answer = desk.delete_comment(incident, said, limited)
    assert answer.status_code == 403
    assert answer.get_json()["required_permission"] == "incidents:write"
    own = desk.act(incident, "comments", limited, body="mine").get_json()["id"]
    assert desk.delete_comment(incident, own, limited).status_code == 204
    moderator = new_key(runtime, org, ["incidents:write"])
    assert desk.delete_comment(incident, said, moderator).status_code == 204
    assert [one["body"] for one in desk.get(f"/{incident}/comments")] == [None, None]


def test_a_key_that_is_named_like_the_author_is_not_the_author(
    desk: Desk, ann: Headers, email: str
) -> None:
    incident = desk.open()
    said = desk.act(incident, "comments", ann, body="hm").get_json()["id"]
    secret = "s" * 32 + new_email()
    wanted = {"name": email, "key": secret, "permissions": ["incidents:ack"]}
    assert desk.client.post("/v1/keys", json=wanted, headers=desk.key).status_code == 201
    answer = desk.delete_comment(incident, said, {"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 403


@pytest.mark.parametrize("body", [None, "", " \n", "x" * 8001, "a\x07b", 5])
def test_a_comment_that_is_none_is_refused(desk: Desk, body: Any) -> None:
    answer = desk.act(desk.open(), "comments", body=body)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == ["body"]


def test_a_comment_of_another_incident_is_not_there(desk: Desk) -> None:
    one, other = desk.open(), desk.open()
    said = desk.act(one, "comments", body="x" * 8000).get_json()["id"]
    for comment in (said, NOBODYS, "nonsense"):
        assert desk.delete_comment(other, comment).status_code == 404
    assert desk.get(f"/{one}/comments")[0]["body"] == "x" * 8000


def test_deleting_an_alert_deletes_its_incidents(desk: Desk, alert: Any) -> None:
    incident = desk.report(alert).get_json()["id"]
    desk.act(incident, "comments", body="hm")
    path = f"/v1/alerts/{alert.id}"
    assert desk.client.delete(path, headers=desk.key).status_code == 204
    assert desk.client.get(f"/v1/alerts/incidents/{incident}", headers=desk.key).status_code == 404
    assert desk.get("", state="firing,acknowledged,resolved") == []


def test_a_resolution_may_snooze_the_rule(desk: Desk, alert: Any) -> None:
    def begins() -> Any:
        with desk.runtime.postgres.transaction() as session:
            return session.get_one(AlertState, alert.id).begins_at

    first = desk.report(alert).get_json()["id"]
    refused = desk.act(first, "resolve", snooze_secs=30 * 86_400 + 1)
    assert (refused.status_code, "snooze_secs" in refused.text) == (422, True)
    path = f"{PATH}/{first}/resolve"
    resolved = desk.client.post(path, headers=desk.key).get_json()["resolved_at"]
    assert abs((begins() - datetime.fromisoformat(resolved)).total_seconds()) < 5
    again = desk.act(desk.report(alert).get_json()["id"], "resolve", snooze_secs=3600).get_json()
    rests = (begins() - datetime.fromisoformat(again["resolved_at"])).total_seconds()
    assert abs(rests - 3600) < 5
    assert desk.act(desk.open(), "resolve", snooze_secs=60).status_code == 422
