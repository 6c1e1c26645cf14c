"""GET /audits/findings and /audits/findings/{fid}."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings.rules import SCOPES
from tests.support.app import Headers
from tests.support.findings import Audited, candidate
from tests.support.runtime import Org, make_org
from tests.web.audits.findings.conftest import Acting, Listing


def test_a_row_says_all_that_is_known_of_a_finding(audited: Audited, listed: Listing) -> None:
    audited.file(candidate(recommendation="Try again later", effort="an hour"))
    finding = audited.finding()
    assert listed() == [
        {
            "id": str(finding.id),
            "audit_id": str(audited.audit.id),
            "audit_name": "audit",
            "fingerprint": candidate().fingerprint,
            "signal": candidate().signal,
            "title": "Errors: timeout",
            "category": "errors",
            "failure_type": "timeout",
            "kind": "failure",
            "severity": "warning",
            "magnitude": "medium",
            "priority": 0.5633,
            "status": "open",
            "occurrences": 1,
            "first_seen_at": "2026-03-01T00:00:00.000000Z",
            "last_seen_at": "2026-03-08T00:00:00.000000Z",
            "description": "timeout in ten sessions",
            "root_cause_hypothesis": None,
            "recommendation": "Try again later",
            "expected_impact": None,
            "effort": "an hour",
            "evidence": {
                "session_ids": ["session-of-timeout"],
                "event_ids": [1, 2],
                "numbers": {"errors": 12, "share": 0.25},
            },
            "evidence_queries": [
                {"title": "The numbers", "sql": "SELECT 12 AS errors, 0.25 AS share"}
            ],
            "scope": {name: [] for name in SCOPES},
            "assigned_to": None,
            "issue_id": None,
        }
    ]


def test_one_finding_is_read_like_its_row(
    audited: Audited, listed: Listing, client: FlaskClient, key: Callable[..., Headers]
) -> None:
    audited.file(candidate("a"), candidate("b"))
    headers = key("audits:read")
    for row in listed():
        assert client.get(f"/v1/audits/findings/{row['id']}", headers=headers).get_json() == row


def test_an_acknowledged_finding_ranks_behind_and_keeps_its_priority(
    audited: Audited, listed: Listing, act: Acting
) -> None:
    audited.file(candidate("a", affected_sessions=60), candidate("b", affected_sessions=50))
    [first, second] = listed()
    assert (first["failure_type"], first["priority"]) == ("a", 0.7133)
    act(first["id"], action="ack")
    assert [(row["failure_type"], row["priority"]) for row in listed()] == [
        ("b", second["priority"]),
        ("a", 0.7133),
    ]


def test_filters_and_pages(
    audited: Audited, runtime: Runtime, org: Org, listed: Listing, act: Acting
) -> None:
    other = Audited(runtime, org, "other")
    run = audited.run()
    audited.file(candidate("a"), candidate("b"), run=run)
    audited.file(candidate("b"), candidate("c"))
    other.file(candidate("d"))
    ids = {row["failure_type"]: row["id"] for row in listed()}
    act(ids["a"], action="resolve")

    def names(**query: object) -> str:
        return "".join(sorted(row["failure_type"] for row in listed(**query)))

    assert names() == "bcd"
    assert names(status="open") == "cd"
    assert names(status="recurring,resolved") == "ab"
    assert names(audit_id=other.audit.id) == "d"
    assert names(run_id=run.id) == "b"
    assert names(run_id=run.id, status="resolved,recurring") == "ab"
    assert names(run_id=new_id()) == names(audit_id=new_id()) == ""
    pages = [listed(limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 1, 0]
    assert [row["id"] for page in pages for row in page] == [row["id"] for row in listed()]
    assert listed(offset=10**30) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("status", "open,closed"),
        ("audit_id", "x"),
        ("run_id", "x"),
        ("limit", "0"),
        ("offset", "-1"),
        ("offset", "x"),
    ],
)
def test_a_bad_parameter_is_named(
    client: FlaskClient, key: Callable[..., Headers], name: str, value: str
) -> None:
    answer = client.get("/v1/audits/findings", query_string={name: value}, headers=key())
    assert (answer.status_code, list(answer.get_json()["fields"])) == (422, [name])


def test_another_organization_has_none_of_it(
    runtime: Runtime, client: FlaskClient, key: Callable[..., Headers], listed: Listing
) -> None:
    theirs = Audited(runtime, make_org(runtime))
    theirs.file(candidate())
    assert listed(audit_id=theirs.audit.id) == listed() == []
    for finding_id in (theirs.finding().id, new_id(), "x"):
        answer = client.get(f"/v1/audits/findings/{finding_id}", headers=key())
        assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found")
