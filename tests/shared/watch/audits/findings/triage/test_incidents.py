"""A finding and its incident are resolved together, whichever is resolved first."""

from collections.abc import Callable

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings import incident as linked
from shared.watch.audits.findings.models import Finding
from shared.watch.incidents.models import Incident
from tests.shared.watch.audits.findings.triage.conftest import Act
from tests.support.findings import Audited, critical
from tests.support.incidents import key_actor

Fire = Callable[[Finding], Incident]
Incidents = Callable[[], list[Incident]]


def resolve_incident(runtime: Runtime, incident: Incident) -> None:
    with runtime.postgres.transaction() as session:
        linked.resolve_with_finding(
            session, runtime, incident.org_id, incident.id, key_actor("a person")
        )


def test_resolving_a_finding_resolves_its_incident(
    audited: Audited, do: Act, fire: Fire, incidents: Incidents
) -> None:
    audited.file(critical())
    fire(audited.finding())
    do("resolve", audited.finding(), by="a person")
    [incident] = incidents()
    assert (incident.state, incident.resolved_by) == ("resolved", "a person")


def test_resolving_an_incident_resolves_its_finding(
    runtime: Runtime, audited: Audited, fire: Fire
) -> None:
    audited.file(critical())
    resolve_incident(runtime, fire(audited.finding()))
    assert audited.finding().status == "resolved"


def test_a_returning_pattern_gets_a_new_incident(
    runtime: Runtime, audited: Audited, do: Act, fire: Fire, incidents: Incidents
) -> None:
    audited.file(critical())
    resolve_incident(runtime, fire(audited.finding()))
    [back] = audited.file(critical()).critical
    fire(back)
    old, new = audited.findings()
    assert back.id == new.id
    assert [(one.source_finding_id, one.state) for one in incidents()] == [
        (old.id, "resolved"),
        (new.id, "firing"),
    ]
    do("resolve", new)
    assert [one.state for one in incidents()] == ["resolved", "resolved"]


@pytest.mark.parametrize(("action", "status"), [("mute", "muted"), ("dismiss", "dismissed")])
def test_a_suppressed_finding_leaves_its_incident_to_people_and_stays_as_it_is(
    runtime: Runtime,
    audited: Audited,
    do: Act,
    fire: Fire,
    incidents: Incidents,
    action: str,
    status: str,
) -> None:
    audited.file(critical())
    incident = fire(audited.finding())
    do(action, audited.finding())
    assert [one.state for one in incidents()] == ["firing"]
    resolve_incident(runtime, incident)
    assert audited.finding().status == status


def test_a_finding_without_an_incident_is_resolved(
    audited: Audited, do: Act, incidents: Incidents
) -> None:
    audited.file(critical())
    assert do("resolve", audited.finding()).status == "resolved"
    assert incidents() == []


def test_resolving_twice_resolves_only_its_own_incident(
    audited: Audited, do: Act, fire: Fire, incidents: Incidents
) -> None:
    audited.file(critical())
    first = audited.finding()
    do("resolve", first)
    [back] = audited.file(critical()).critical
    fire(back)
    do("resolve", first)
    assert [one.state for one in incidents()] == ["firing"]
