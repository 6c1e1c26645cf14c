"""Filing: one finding per pattern and run, until it is resolved."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings.models import FindingSighting, Suppression
from shared.watch.audits.findings.service import open_counts, resolve_for_incident
from tests.support.findings import WINDOW, Audited, candidate, critical
from tests.support.runtime import Org, make_org


@pytest.fixture
def audited(runtime: Runtime, org: Org) -> Audited:
    return Audited(runtime, org)


def suppress(audited: Audited, name: str) -> None:
    with audited.runtime.postgres.transaction() as session:
        session.add(
            Suppression(
                org_id=audited.org.uuid,
                fingerprint=candidate(name).fingerprint,
                action="mute",
                created_by="t",
            )
        )


def resolve(audited: Audited) -> None:
    with audited.runtime.postgres.transaction() as session:
        resolve_for_incident(session, audited.finding().id, "somebody")


def test_a_finding_says_what_its_first_run_saw(audited: Audited) -> None:
    filed = audited.file(candidate())
    assert (filed.found, filed.new, filed.critical) == (1, 1, [])
    found = audited.finding()
    assert (found.status, found.occurrences, found.priority) == ("open", 1, 0.5633)
    assert found.fingerprint == candidate().fingerprint
    assert (found.first_seen_at, found.last_seen_at) == (WINDOW.start, WINDOW.stop)
    assert found.evidence == {
        "session_ids": ["session-of-timeout"],
        "event_ids": [1, 2],
        "numbers": {"errors": 12, "share": 0.25},
    }
    assert found.evidence_queries == [
        {"title": "The numbers", "sql": "SELECT 12 AS errors, 0.25 AS share"}
    ]


def test_a_pattern_that_is_seen_again_is_recurring_and_says_what_is_new(audited: Audited) -> None:
    first = candidate(first_seen_at=WINDOW.start, last_seen_at=WINDOW.start + timedelta(days=1))
    audited.file(first)
    again = candidate(
        title="Many errors",
        severity="critical",
        magnitude="big",
        first_seen_at=WINDOW.stop - timedelta(days=1),
        numbers={"errors": 40},
        session_ids=("another",),
    )
    filed = audited.file(again)
    assert (filed.found, filed.new) == (1, 0)
    found = audited.finding()
    assert (found.status, found.occurrences) == ("recurring", 2)
    assert (found.title, found.severity, found.magnitude) == ("Many errors", "critical", "big")
    assert (found.first_seen_at, found.last_seen_at) == (WINDOW.start, WINDOW.stop)
    assert found.evidence["numbers"] == {"errors": 40}
    assert found.evidence["session_ids"] == ["another"]
    # 0.30 x 0.1 + 0.25 + 0.25 + 0.20
    assert found.priority == 0.73


def test_every_run_that_sees_it_is_an_occurrence(audited: Audited) -> None:
    for _ in range(4):
        audited.file(candidate())
    audited.file(candidate("something else"))
    found = {one.failure_type: one.occurrences for one in audited.findings()}
    assert found == {"timeout": 4, "something else": 1}


def test_a_run_that_is_filed_twice_counts_once(audited: Audited, runtime: Runtime) -> None:
    run = audited.run()
    for _ in range(2):
        filed = audited.file(critical(), candidate(), run=run)
        assert (filed.found, filed.new, len(filed.critical)) == (2, 2, 1)
    assert [(one.status, one.occurrences) for one in audited.findings()] == [("open", 1)] * 2
    with runtime.postgres.transaction() as session:
        counting = select(func.count()).where(FindingSighting.run_id == run.id)
        assert session.scalar(counting) == 2


def test_a_run_that_is_filed_twice_does_not_reopen_what_was_resolved_between(
    audited: Audited,
) -> None:
    run = audited.run()
    audited.file(critical(), run=run)
    resolve(audited)
    filed = audited.file(critical(title="told again"), run=run)
    assert (filed.found, filed.critical) == (1, [])
    found = audited.finding()
    assert (found.status, found.occurrences, found.title) == ("resolved", 1, "Errors: leak")


def test_a_resolved_pattern_comes_back_as_a_new_finding(audited: Audited) -> None:
    audited.file(candidate())
    audited.file(candidate())
    resolve(audited)
    before = audited.finding()
    filed = audited.file(candidate(title="It is back"))
    assert (filed.found, filed.new) == (1, 1)
    old, new = audited.findings()
    assert (old.id, old.status, old.occurrences) == (before.id, "resolved", 2)
    assert (old.title, old.updated_at) == (before.title, before.updated_at)
    assert (new.status, new.occurrences, new.title) == ("open", 1, "It is back")
    assert old.fingerprint == new.fingerprint


def test_candidates_of_one_fingerprint_are_one_finding_as_the_first_says(audited: Audited) -> None:
    filed = audited.file(candidate(title="first"), candidate(title="second", severity="critical"))
    assert (filed.found, filed.new, filed.critical) == (1, 1, [])
    assert audited.finding().title == "first"


def test_the_most_urgent_are_filed_where_there_are_more_than_top_k(
    runtime: Runtime, org: Org
) -> None:
    audited = Audited(runtime, org, top_k=2)
    covering = {"a": 10, "b": 80, "c": 40, "d": 60}
    filed = audited.file(*(candidate(n, affected_sessions=s) for n, s in covering.items()))
    assert (filed.found, filed.new) == (2, 2)
    assert {one.failure_type for one in audited.findings()} == {"b", "d"}


def test_a_suppressed_pattern_is_not_filed_and_takes_no_place(runtime: Runtime, org: Org) -> None:
    audited = Audited(runtime, org, top_k=1)
    suppress(audited, "noise")
    filed = audited.file(critical("noise"), candidate("signal"))
    assert (filed.found, filed.critical) == (1, [])
    assert audited.finding().failure_type == "signal"


def test_a_suppression_does_not_reach_another_organization(runtime: Runtime, org: Org) -> None:
    here, there = Audited(runtime, org), Audited(runtime, make_org(runtime))
    suppress(here, "timeout")
    assert here.file(candidate()).found == 0
    assert there.file(candidate()).found == 1


def test_critical_ones_are_handed_back_whether_new_or_seen_before(audited: Audited) -> None:
    for status in ("open", "recurring"):
        [found] = audited.file(critical(), candidate()).critical
        assert (found.failure_type, found.status) == ("leak", status)


def test_the_scope_is_that_of_the_pattern_and_else_of_the_audit(runtime: Runtime, org: Org) -> None:
    scope = {"environments": ["prod"], "agent_ids": ["a", "b"]}
    audited = Audited(runtime, org, scope=scope)
    audited.file(candidate(scope={"agent_ids": ("a",), "models": ("m",)}))
    assert {name: values for name, values in audited.finding().scope.items() if values} == {
        "environments": ["prod"],
        "agent_ids": ["a"],
        "models": ["m"],
    }


def test_texts_of_events_that_postgresql_cannot_hold_are_filed_all_the_same(
    audited: Audited,
) -> None:
    audited.file(candidate(title="zero \x00 and half \ud800", recommendation="\x00"))
    found = audited.finding()
    assert (found.title, found.recommendation) == ("zero \ufffd and half ?", "\ufffd")


def test_a_run_without_a_window_is_refused(audited: Audited) -> None:
    run = audited.run()
    run.window_from = None
    with pytest.raises(ValueError, match="window"):
        audited.file(candidate(), run=run)


def test_open_and_recurring_ones_are_counted_by_audit(runtime: Runtime, org: Org) -> None:
    one, other, empty = (Audited(runtime, org, name) for name in ("one", "other", "empty"))
    elsewhere = Audited(runtime, make_org(runtime))
    for audited in (one, other, elsewhere):
        audited.file(candidate("a"))
    resolve(other)
    one.file(candidate("a"), candidate("b"))
    other.file(candidate("c"))
    with runtime.postgres.transaction() as session:
        assert open_counts(session, org.uuid) == {one.audit.id: 2, other.audit.id: 1}
    assert empty.findings() == []


def test_a_pattern_keeps_its_fingerprint_whatever_its_numbers_are() -> None:
    first = candidate()
    other = replace(first, title="x", severity="info", numbers={}, affected_sessions=1, queries=())
    assert first.fingerprint == other.fingerprint
    assert len(first.fingerprint) == 32
    others = (replace(first, signal="tool_failure"), replace(first, key=("timeout", "x")))
    assert len({first.fingerprint, *(one.fingerprint for one in others)}) == 3
