"""POST /audits/findings/{fid}/status."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings.models import FindingAction
from tests.support.app import Headers
from tests.support.findings import Audited, candidate
from tests.support.people import add_member, new_email
from tests.support.runtime import Org, make_org
from tests.web.audits.findings.conftest import Acting, Listing


def test_the_answer_says_what_was_done_and_where_the_finding_stands(
    audited: Audited, act: Acting
) -> None:
    audited.file(candidate())
    finding_id = str(audited.finding().id)
    for action, status in [
        ("ack", "open"),
        ("mute", "muted"),
        ("mute", "muted"),
        ("dismiss", "dismissed"),
        ("reopen", "open"),
        ("resolve", "resolved"),
        ("resolve", "resolved"),
    ]:
        answer = act(finding_id, action=action, reason="because")
        assert (answer.status_code, answer.get_json()) == (
            200,
            {"id": finding_id, "action": action, "ok": True, "status": status},
        )


def test_acknowledge_is_another_word_for_ack(
    audited: Audited, runtime: Runtime, act: Acting
) -> None:
    audited.file(candidate())
    answer = act(audited.finding().id, action="acknowledge")
    assert (answer.status_code, answer.get_json()["action"]) == (200, "ack")
    query = select(FindingAction.action).where(FindingAction.org_id == audited.org.uuid)
    with runtime.postgres.transaction() as session:
        assert session.scalars(query).all() == ["ack"]


def test_it_is_remembered_who_decided_and_why(
    audited: Audited, runtime: Runtime, client: FlaskClient, person: Callable[..., Headers]
) -> None:
    audited.file(candidate())
    email = new_email()
    answer = client.post(
        f"/v1/audits/findings/{audited.finding().id}/status",
        json={"action": "dismiss", "reason": "We meant it so"},
        headers=person("audits:write", email=email),
    )
    assert answer.status_code == 200
    query = select(FindingAction).where(FindingAction.org_id == audited.org.uuid)
    with runtime.postgres.transaction() as session:
        [row] = session.scalars(query)
    assert (row.action, row.actor, row.reason) == ("dismiss", email, "We meant it so")


def test_assigning_shows_in_the_row(
    audited: Audited, runtime: Runtime, org: Org, act: Acting, listed: Listing
) -> None:
    audited.file(candidate())
    email = new_email()
    add_member(runtime, org, email=email)
    answer = act(audited.finding().id, action="assign", assigned_to=email)
    assert answer.get_json()["status"] == "open"
    assert [row["assigned_to"] for row in listed()] == [email]


def test_impossible_actions_are_a_conflict(audited: Audited, act: Acting) -> None:
    audited.file(candidate())
    finding_id = audited.finding().id
    act(finding_id, action="resolve")
    answer = act(finding_id, action="ack")
    assert (answer.status_code, answer.get_json()["code"]) == (409, "finding_state")
    assert answer.get_json()["error"] == "ack is not possible for a finding that is resolved"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "action"),
        ({"action": "close"}, "action"),
        ({"action": None}, "action"),
        ({"action": "mute", "reason": "x" * 2001}, "reason"),
        ({"action": "mute", "reason": 5}, "reason"),
        ({"action": "assign"}, "assigned_to"),
        ({"action": "assign", "assigned_to": "stranger@example.com"}, "assigned_to"),
    ],
)
def test_a_bad_field_is_named(
    audited: Audited, act: Acting, body: dict[str, object], field: str
) -> None:
    audited.file(candidate())
    answer = act(audited.finding().id, **body)
    assert (answer.status_code, list(answer.get_json()["fields"])) == (422, [field])
    assert audited.finding().status == "open"


def test_a_finding_of_another_organization_is_not_found(runtime: Runtime, act: Acting) -> None:
    theirs = Audited(runtime, make_org(runtime))
    theirs.file(candidate())
    answer = act(theirs.finding().id, action="mute")
    assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found")
    assert theirs.finding().status == "open"
