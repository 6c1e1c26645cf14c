"""The effects of each action on a finding, their reach, and the refusals."""

from typing import Any

import pytest
from sqlalchemy import select

from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings.models import FindingAction, Suppression
from shared.watch.audits.findings.triage import act
from tests.shared.watch.audits.findings.triage.conftest import Act
from tests.support.findings import Audited, candidate
from tests.support.incidents import key_actor
from tests.support.people import add_member, new_email
from tests.support.runtime import Org, make_org

# The actions that lead a new finding into each status.
PATHS: dict[str, tuple[str, ...]] = {
    "open": (),
    "muted": ("mute",),
    "dismissed": ("dismiss",),
    "resolved": ("resolve",),
}


def actions_of(runtime: Runtime, audited: Audited) -> list[tuple[str, str | None, str]]:
    """Returns the recorded actions on the audit's only finding."""
    query = select(FindingAction).where(FindingAction.finding_id == audited.finding().id)
    with runtime.postgres.transaction() as session:
        rows = session.scalars(query.order_by(FindingAction.at))
        return [(row.action, row.reason, row.actor) for row in rows]


@pytest.mark.parametrize(
    ("start", "action", "expected"),
    [
        ("open", "ack", "open"),
        ("open", "mute", "muted"),
        ("open", "dismiss", "dismissed"),
        ("open", "resolve", "resolved"),
        ("open", "reopen", "open"),
        ("open", "assign", "open"),
        ("muted", "ack", None),
        ("muted", "mute", "muted"),
        ("muted", "dismiss", "dismissed"),
        ("muted", "resolve", None),
        ("muted", "reopen", "open"),
        ("muted", "assign", "muted"),
        ("dismissed", "ack", None),
        ("dismissed", "mute", "muted"),
        ("dismissed", "dismiss", "dismissed"),
        ("dismissed", "resolve", None),
        ("dismissed", "reopen", "open"),
        ("dismissed", "assign", "dismissed"),
        ("resolved", "ack", None),
        ("resolved", "mute", None),
        ("resolved", "dismiss", None),
        ("resolved", "resolve", "resolved"),
        ("resolved", "reopen", "open"),
        ("resolved", "assign", None),
    ],
)
def test_an_action_leads_to_a_status_or_is_refused(
    runtime: Runtime,
    org: Org,
    audited: Audited,
    do: Act,
    start: str,
    action: str,
    expected: str | None,
) -> None:
    audited.file(candidate())
    for step in PATHS[start]:
        do(step, audited.finding())
    details: dict[str, Any] = {}
    if action == "assign":
        details["assigned_to"] = new_email()
        add_member(runtime, org, email=details["assigned_to"])
    if expected is None:
        with pytest.raises(Conflict) as refused:
            do(action, audited.finding(), **details)
        assert refused.value.code == "finding_state"
        assert audited.finding().status == start
    else:
        assert do(action, audited.finding(), **details).status == expected
        assert audited.finding().status == expected


def test_an_acknowledged_finding_keeps_its_status_and_priority(
    runtime: Runtime, audited: Audited, do: Act
) -> None:
    audited.file(candidate())
    audited.file(candidate())
    assert do("ack", audited.finding(), reason="we know").status == "recurring"
    assert audited.finding().priority == 0.5633
    first = audited.finding().acknowledged_at
    assert first is not None
    do("ack", audited.finding())
    assert audited.finding().acknowledged_at == first
    assert actions_of(runtime, audited) == [("ack", "we know", "somebody")]
    # It stays acknowledged when it is seen again, until it is reopened.
    audited.file(candidate())
    assert audited.finding().acknowledged_at == first
    assert do("reopen", audited.finding()).status == "recurring"
    assert audited.finding().acknowledged_at is None


@pytest.mark.parametrize(("action", "status"), [("mute", "muted"), ("dismiss", "dismissed")])
def test_a_suppressed_pattern_is_filed_by_no_audit_of_the_organization(
    runtime: Runtime, org: Org, audited: Audited, do: Act, action: str, status: str
) -> None:
    other, elsewhere = Audited(runtime, org, "other"), Audited(runtime, make_org(runtime))
    for one in (audited, other, elsewhere):
        one.file(candidate())
    do(action, audited.finding(), reason="noise")
    assert [one.finding().status for one in (audited, other, elsewhere)] == [status, status, "open"]
    third = Audited(runtime, org, "third")
    assert [one.file(candidate()).found for one in (audited, other, third, elsewhere)] == [
        0,
        0,
        0,
        1,
    ]
    assert [one.finding().occurrences for one in (audited, other, elsewhere)] == [1, 1, 2]
    assert actions_of(runtime, other) == [(action, "noise", "somebody")]


@pytest.mark.parametrize("action", ["mute", "dismiss"])
def test_reopening_lifts_it_in_all_audits(
    runtime: Runtime, org: Org, audited: Audited, do: Act, action: str
) -> None:
    other = Audited(runtime, org, "other")
    for one in (audited, other):
        one.file(candidate(), candidate("another"))
    [finding] = [one for one in audited.findings() if one.failure_type == "timeout"]
    do(action, finding)
    do("reopen", finding)
    for one in (audited, other):
        assert {found.status for found in one.findings()} == {"open"}
        assert one.file(candidate()).found == 1
        assert {found.failure_type: found.status for found in one.findings()} == {
            "timeout": "recurring",
            "another": "open",
        }


def test_reopening_lifts_nothing_in_another_organization(
    runtime: Runtime, audited: Audited, do: Act
) -> None:
    elsewhere = Audited(runtime, make_org(runtime))
    for one in (audited, elsewhere):
        one.file(candidate())
        do("mute", one.finding())
    do("reopen", audited.finding())
    assert elsewhere.finding().status == "muted"
    assert elsewhere.file(candidate()).found == 0


def test_dismissing_what_is_muted_changes_why_it_is_suppressed(
    runtime: Runtime, audited: Audited, do: Act
) -> None:
    audited.file(candidate())
    do("mute", audited.finding(), reason="noise", by="one")
    do("dismiss", audited.finding(), reason="wrong", by="two")
    with runtime.postgres.transaction() as session:
        query = select(Suppression).where(Suppression.org_id == audited.org.uuid)
        [row] = session.scalars(query)
    assert (row.action, row.reason, row.created_by) == ("dismiss", "wrong", "two")
    assert actions_of(runtime, audited) == [("mute", "noise", "one"), ("dismiss", "wrong", "two")]


def test_earlier_resolved_findings_are_not_suppressed_with_their_pattern(
    audited: Audited, do: Act
) -> None:
    audited.file(candidate())
    do("resolve", audited.finding())
    audited.file(candidate())
    old, new = audited.findings()
    do("mute", new)
    assert [one.status for one in audited.findings()] == ["resolved", "muted"]
    do("reopen", new)
    assert [one.status for one in audited.findings()] == ["resolved", "open"]
    assert audited.findings()[0].updated_at == old.updated_at


def test_a_resolved_finding_with_a_successor_is_not_reopened(audited: Audited, do: Act) -> None:
    audited.file(candidate())
    do("resolve", audited.finding())
    audited.file(candidate())
    old, new = audited.findings()
    with pytest.raises(Conflict, match="newer") as refused:
        do("reopen", old)
    assert refused.value.code == "finding_state"
    do("resolve", new)
    assert do("reopen", old).status == "open"


def test_a_reopened_finding_goes_on_where_it_was(audited: Audited, do: Act) -> None:
    for _ in range(2):
        audited.file(candidate())
    do("ack", audited.finding())
    do("resolve", audited.finding())
    do("reopen", audited.finding())
    assert (audited.finding().status, audited.finding().acknowledged_at) == ("open", None)
    audited.file(candidate())
    assert (audited.finding().status, audited.finding().occurrences) == ("recurring", 3)


def test_reopening_what_another_audit_suppresses_lifts_that(
    runtime: Runtime, org: Org, audited: Audited, do: Act
) -> None:
    other = Audited(runtime, org, "other")
    for one in (audited, other):
        one.file(candidate())
    do("resolve", audited.finding())
    do("mute", other.finding())
    do("reopen", audited.finding())
    assert [one.finding().status for one in (audited, other)] == ["open", "open"]
    assert [one.file(candidate()).found for one in (audited, other)] == [1, 1]


def test_a_finding_is_assigned_to_an_active_member(
    runtime: Runtime, org: Org, audited: Audited, do: Act
) -> None:
    audited.file(candidate())
    email = new_email()
    add_member(runtime, org, email=email)
    for spelled in (email, f" {email.upper()} "):
        assert do("assign", audited.finding(), assigned_to=spelled).assigned_to == email
    assert actions_of(runtime, audited) == [("assign", None, "somebody")]
    # A finding that is seen again keeps its assignee.
    audited.file(candidate())
    assert audited.finding().assigned_to == email


@pytest.mark.parametrize("given", [None, "", "nobody", "stranger@example.com"])
def test_only_active_members_can_be_assigned(audited: Audited, do: Act, given: str | None) -> None:
    audited.file(candidate())
    with pytest.raises(Invalid) as refused:
        do("assign", audited.finding(), assigned_to=given)
    assert refused.value.fields.keys() == {"assigned_to"}
    assert audited.finding().assigned_to is None


def test_a_member_of_another_organization_cannot_be_assigned(
    runtime: Runtime, audited: Audited, do: Act
) -> None:
    audited.file(candidate())
    email = new_email()
    add_member(runtime, make_org(runtime), email=email)
    with pytest.raises(Invalid):
        do("assign", audited.finding(), assigned_to=email)


def test_a_reason_has_a_bound(audited: Audited, do: Act) -> None:
    audited.file(candidate())
    assert do("ack", audited.finding(), reason="x" * 2000).acknowledged_at is not None
    for reason in ("x" * 2001, "zero \x00"):
        with pytest.raises(Invalid) as refused:
            do("mute", audited.finding(), reason=reason)
        assert refused.value.fields.keys() == {"reason"}
    assert audited.finding().status == "open"


def test_a_finding_of_another_organization_is_not_found(runtime: Runtime, audited: Audited) -> None:
    audited.file(candidate())
    elsewhere = make_org(runtime)
    for finding_id in (str(audited.finding().id), str(new_id()), "x"):
        with runtime.postgres.transaction() as session, pytest.raises(NotFound):
            act(session, runtime, elsewhere.uuid, finding_id, "mute", key_actor("somebody"))
    assert audited.finding().status == "open"
