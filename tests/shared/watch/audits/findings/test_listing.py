"""Lists of findings: ranked, in pages that hold each finding once."""

from collections.abc import Callable
from datetime import timedelta
from itertools import chain

import pytest
from sqlalchemy import update

from shared.foundation.core.clock import now
from shared.foundation.core.errors import NotFound
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings.models import Finding
from shared.watch.audits.findings.rules import Status
from shared.watch.audits.findings.service import FindingFilter, get, list_
from tests.support.findings import Audited, candidate
from tests.support.runtime import Org, make_org

Names = Callable[..., list[str]]


@pytest.fixture
def audited(runtime: Runtime, org: Org) -> Audited:
    return Audited(runtime, org)


@pytest.fixture
def names(runtime: Runtime, org: Org) -> Names:
    """`names(limit=2, statuses=…)` returns the failure types of the listed findings."""

    def listed(*, limit: int = 100, offset: int = 0, **wanted: object) -> list[str]:
        filters = FindingFilter(**wanted)  # type: ignore[arg-type] # the test gives them
        with runtime.postgres.transaction() as session:
            page = list_(session, org.uuid, filters, limit=limit, offset=offset)
        return [one.finding.failure_type for one in page]

    return listed


def change(runtime: Runtime, org: Org, name: str, **columns: object) -> None:
    """Changes columns of the findings of this failure type."""
    with runtime.postgres.transaction() as session:
        session.execute(
            update(Finding)
            .where(Finding.org_id == org.uuid, Finding.failure_type == name)
            .values(**columns)
        )


def test_the_highest_priority_comes_first_and_an_acknowledged_one_counts_half(
    audited: Audited, runtime: Runtime, org: Org, names: Names
) -> None:
    covering = {"a": 10, "b": 80, "c": 40}
    audited.file(*(candidate(n, affected_sessions=s) for n, s in covering.items()))
    assert names() == ["b", "c", "a"]
    change(runtime, org, "b", acknowledged_at=now())
    assert names() == ["c", "a", "b"]
    with runtime.postgres.transaction() as session:
        last = list_(session, org.uuid, FindingFilter(), limit=9, offset=0)[-1]
    assert (last.finding.failure_type, last.finding.priority) == ("b", 0.7733)


def test_the_most_severe_comes_first_whatever_its_priority(
    audited: Audited, runtime: Runtime, names: Names
) -> None:
    wide = candidate("slow", affected_sessions=90, magnitude="big")
    leak = candidate("leak", severity="critical", affected_sessions=1, magnitude="small")
    audited.file(wide, leak, candidate("note", severity="info", affected_sessions=99))
    assert names() == ["leak", "slow", "note"]
    found = {one.failure_type: one.priority for one in audited.findings()}
    assert found["leak"] < found["slow"]
    few = Audited(runtime, audited.org, "few", top_k=1)
    few.file(wide, leak)
    assert few.finding().failure_type == "leak"


def test_of_one_priority_the_newest_comes_first(
    audited: Audited, runtime: Runtime, org: Org, names: Names
) -> None:
    for name, days in (("a", 2), ("b", 1), ("c", 3)):
        audited.file(candidate(name))
        change(runtime, org, name, created_at=now() - timedelta(days=days))
    assert names() == ["b", "a", "c"]


def test_pages_hold_every_finding_once(audited: Audited, names: Names) -> None:
    # These are filed at once with one priority. Only their ids order them.
    audited.file(*(candidate(f"n{number}") for number in range(11)))
    pages = [names(limit=4, offset=offset) for offset in (0, 4, 8, 12)]
    assert [len(page) for page in pages] == [4, 4, 3, 0]
    assert list(chain(*pages)) == names()
    assert set(chain(*pages)) == {f"n{number}" for number in range(11)}


def test_those_that_are_open_or_recurring_are_listed_unless_others_are_asked_for(
    audited: Audited, runtime: Runtime, org: Org, names: Names
) -> None:
    statuses: tuple[Status, ...] = ("open", "recurring", "resolved", "dismissed", "muted")
    audited.file(*(candidate(status) for status in statuses))
    for status in statuses:
        change(runtime, org, status, status=status)
    assert set(names()) == {"open", "recurring"}
    assert set(names(statuses=("muted", "resolved"))) == {"muted", "resolved"}
    assert set(names(statuses=statuses)) == set(statuses)


def test_findings_of_an_audit_and_of_a_run(
    audited: Audited, runtime: Runtime, org: Org, names: Names
) -> None:
    other = Audited(runtime, org, "other")
    first, second = audited.run(), audited.run()
    audited.file(candidate("a"), candidate("b"), run=first)
    audited.file(candidate("b"), candidate("c"), run=second)
    other.file(candidate("d"))
    assert set(names()) == {"a", "b", "c", "d"}
    assert set(names(audit_id=audited.audit.id)) == {"a", "b", "c"}
    assert set(names(run_id=first.id)) == {"a", "b"}
    assert set(names(run_id=second.id, audit_id=audited.audit.id)) == {"b", "c"}
    assert names(run_id=second.id, audit_id=other.audit.id) == []
    assert names(run_id=new_id()) == names(audit_id=new_id()) == []


def test_another_organization_sees_none_of_it(runtime: Runtime, org: Org, names: Names) -> None:
    theirs = Audited(runtime, make_org(runtime))
    run = theirs.run()
    theirs.file(candidate(), run=run)
    assert names() == names(run_id=run.id) == names(audit_id=theirs.audit.id) == []
    with runtime.postgres.transaction() as session, pytest.raises(NotFound):
        get(session, org.uuid, str(theirs.finding().id))


def test_one_finding_is_read_with_the_name_of_its_audit(
    audited: Audited, runtime: Runtime, org: Org
) -> None:
    audited.file(candidate())
    with runtime.postgres.transaction() as session:
        found = get(session, org.uuid, str(audited.finding().id))
    assert (found.finding.title, found.audit_name) == ("Errors: timeout", "audit")


@pytest.mark.parametrize("finding_id", ["", "x", str(new_id())])
def test_a_finding_that_is_not_there_is_not_found(
    runtime: Runtime, org: Org, finding_id: str
) -> None:
    with runtime.postgres.transaction() as session, pytest.raises(NotFound):
        get(session, org.uuid, finding_id)
