"""Concurrent writes to the same findings by runs, people and incidents. None is lost."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import pytest
from sqlalchemy import text

from shared.foundation.core.errors import Conflict, NotFound
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits import service as audits
from shared.watch.audits.findings.filing import file
from shared.watch.audits.findings.incident import resolve_with_finding
from shared.watch.audits.findings.models import Finding
from shared.watch.audits.findings.triage import act
from shared.watch.audits.lock import lock_findings
from shared.watch.incidents import rows
from shared.watch.incidents.models import Incident
from tests.shared.watch.audits.findings.triage.conftest import Act
from tests.support.findings import TOTAL_SESSIONS, Audited, candidate, critical
from tests.support.incidents import key_actor
from tests.support.processes import wait_until
from tests.support.runtime import Org

NAMES = [f"n{number}" for number in range(6)]


def waiting(runtime: Runtime) -> bool:
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with runtime.postgres.transaction() as session:
        return bool(session.scalar(text(query)))


def test_a_mute_waits_for_a_run_and_takes_what_it_filed(
    runtime: Runtime, org: Org, audited: Audited, do: Act
) -> None:
    other = Audited(runtime, org, "other")
    audited.file(candidate())
    run = other.run()
    with ThreadPoolExecutor(1) as pool:
        with runtime.postgres.transaction() as session:
            file(session, run, other.audit, [candidate()], TOTAL_SESSIONS)
            later: Future[Finding] = pool.submit(do, "mute", audited.finding())
            wait_until(lambda: waiting(runtime))
            assert not later.done()
        later.result()
    assert [one.finding().status for one in (audited, other)] == ["muted", "muted"]


def test_a_run_waits_for_a_mute_and_files_nothing_of_it(
    runtime: Runtime, org: Org, audited: Audited
) -> None:
    other = Audited(runtime, org, "other")
    audited.file(candidate())
    finding_id = str(audited.finding().id)
    with ThreadPoolExecutor(1) as pool:
        with runtime.postgres.transaction() as session:
            act(session, runtime, org.uuid, finding_id, "mute", key_actor("somebody"))
            later = pool.submit(other.file, candidate())
            wait_until(lambda: waiting(runtime))
            assert not later.done()
        assert later.result().found == 0
    assert other.findings() == []


def test_audits_file_at_once_in_whatever_order_they_found(runtime: Runtime, org: Org) -> None:
    audits = [Audited(runtime, org, name) for name in ("one", "two")]
    candidates = [candidate(name) for name in NAMES]

    def work(audited: Audited, order: int) -> None:
        for _ in range(5):
            assert audited.file(*candidates[::order]).found == len(NAMES)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work, *one) for one in zip(audits, (1, -1), strict=True)]:
            done.result()
    for audited in audits:
        assert [one.occurrences for one in audited.findings()] == [5] * len(NAMES)


def test_a_run_that_is_filed_twice_at_once_counts_once(audited: Audited) -> None:
    run = audited.run()
    with ThreadPoolExecutor(2) as pool:
        filed = [pool.submit(audited.file, candidate(), run=run) for _ in range(2)]
        assert [(one.result().found, one.result().new) for one in filed] == [(1, 1), (1, 1)]
    assert audited.finding().occurrences == 1


def test_a_finding_and_its_incident_that_are_resolved_at_once_are_resolved(
    runtime: Runtime,
    audited: Audited,
    do: Act,
    fire: Callable[[Finding], Incident],
    incidents: Callable[[], list[Incident]],
) -> None:
    def resolve(incident: Incident) -> None:
        # The finding may have resolved it already.
        with suppress(Conflict), runtime.postgres.transaction() as session:
            resolve_with_finding(
                session, runtime, incident.org_id, incident.id, key_actor("somebody")
            )

    rounds = 8
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            [finding] = audited.file(critical()).critical
            incident = fire(finding)
            for done in (pool.submit(do, "resolve", finding), pool.submit(resolve, incident)):
                done.result()
    assert [one.status for one in audited.findings()] == ["resolved"] * rounds
    assert [one.state for one in incidents()] == ["resolved"] * rounds


def test_people_decide_while_audits_file(
    runtime: Runtime, org: Org, audited: Audited, do: Act
) -> None:
    other = Audited(runtime, org, "other")
    for one in (audited, other):
        one.file(*(candidate(name) for name in NAMES))
    findings = audited.findings()

    def triage() -> None:
        for finding in findings:
            for action in ("mute", "reopen", "ack", "dismiss"):
                do(action, finding)

    def audit() -> None:
        for order in (1, -1, 1, -1):
            other.file(*(candidate(name) for name in NAMES[::order]))

    with ThreadPoolExecutor(2) as pool:
        for done in (pool.submit(triage), pool.submit(audit)):
            done.result()
    assert {one.status for one in (*audited.findings(), *other.findings())} == {"dismissed"}
    assert other.file(*(candidate(name) for name in NAMES)).found == 0


def test_a_decision_about_a_finding_whose_audit_is_deleted_meanwhile_finds_none(
    runtime: Runtime, audited: Audited, do: Act
) -> None:
    audited.file(candidate())
    finding = audited.finding()
    with ThreadPoolExecutor(1) as pool:
        with runtime.postgres.transaction() as session:
            session.delete(session.merge(audited.audit))
            session.flush()
            later = pool.submit(do, "ack", finding)
            wait_until(lambda: waiting(runtime))
        with pytest.raises(NotFound):
            later.result()


def test_an_audit_that_is_deleted_waits_for_who_resolves_an_incident_of_it(
    runtime: Runtime,
    org: Org,
    audited: Audited,
    fire: Callable[[Finding], Incident],
    incidents: Callable[[], list[Incident]],
) -> None:
    [finding] = audited.file(critical()).critical
    incident = fire(finding)
    audit_id = str(audited.audit.id)

    def delete() -> None:
        with runtime.postgres.transaction() as session:
            audits.delete(session, org.uuid, audit_id)

    with ThreadPoolExecutor(1) as pool:
        with runtime.postgres.transaction() as session:
            # The part of a resolution before it writes to the finding.
            lock_findings(session, org.uuid)
            rows.changeable(session, org.uuid, incident.id)
            later = pool.submit(delete)
            wait_until(lambda: waiting(runtime))
            resolve_with_finding(session, runtime, org.uuid, incident.id, key_actor("somebody"))
        later.result()
    assert audited.findings() == []
    assert [(one.state, one.source_finding_id) for one in incidents()] == [("resolved", None)]
