"""One open incident per alert: its opening, and the effect of later breaches."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from shared.access.organizations import creations
from shared.foundation.core.actor import SYSTEM
from shared.foundation.core.clock import format_ts
from shared.foundation.core.errors import NotFound
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts import service as alerts
from shared.watch.audits.findings.incident import hold, resolve_with_finding
from shared.watch.audits.findings.models import Finding
from shared.watch.incidents import activity, listing, service, subscribers
from shared.watch.incidents.opening import Breach
from tests.support.findings import Audited, critical
from tests.support.incidents import (
    add_alert,
    breach,
    key_actor,
    kinds,
    new_actor,
    open_incident,
    opening_of,
    stored,
)
from tests.support.runtime import Org, make_org


def created(runtime: Runtime, org: Org) -> int:
    with runtime.postgres.transaction() as session:
        start, end = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
        return creations.created_in(session, org.uuid, "incident", start, end)


def test_a_breach_opens_an_incident_with_what_its_alert_is_at_that_moment(
    runtime: Runtime, org: Org
) -> None:
    alert = add_alert(runtime, org)
    made = breach(runtime, opening_of(alert))
    assert made.newly_opened
    row = stored(runtime, made.incident)
    assert (row.org_id, row.alert_id, row.title) == (org.uuid, alert.id, alert.name)
    assert (row.state, row.source, row.source_finding_id) == ("firing", "alert", None)
    assert (row.alert_name, row.alert_severity) == (alert.name, "critical")
    assert row.trigger_kind == "metric_threshold"
    assert row.origin == {"id": str(alert.id), "name": alert.name}
    assert row.channels == [{"kind": "dashboard"}]
    assert (row.breach_value, row.breach_summary) == (0.5, "error_rate is 0.5")
    assert row.evidence == {"value": 0.5}
    assert row.opened_at == row.last_breach_at
    assert (row.acknowledged_at, row.resolved_at, row.assignees) == (None, None, [])
    assert kinds(runtime, row) == ["opened"]
    assert created(runtime, org) == 1


def test_a_later_breach_is_folded_into_it(runtime: Runtime, org: Org) -> None:
    alert = add_alert(runtime, org)
    first = breach(runtime, opening_of(alert)).incident
    again = breach(runtime, opening_of(alert, 0.75, title="another", severity="info"))
    assert not again.newly_opened
    assert again.incident.id == first.id
    row = stored(runtime, first)
    assert (row.breach_value, row.breach_summary) == (0.75, "error_rate is 0.75")
    assert row.evidence == {"value": 0.75}
    assert row.last_breach_at > row.opened_at == first.opened_at
    assert (row.title, row.alert_severity) == (alert.name, "critical")
    assert kinds(runtime, row) == ["opened", "breached"]
    assert created(runtime, org) == 1


def test_breaches_without_anything_between_them_are_one_row_of_activity(
    runtime: Runtime, org: Org
) -> None:
    alert = add_alert(runtime, org)
    incident = breach(runtime, opening_of(alert)).incident
    compared = {"metric": "error_rate", "op": ">", "bound": 0.5}
    for value in (1.0, 2.0, 3.0):
        told = Breach(value, f"error_rate is {value}", {**compared, "value": value, "more": 1})
        breach(runtime, opening_of(alert, breach=told))
    breach(runtime, opening_of(alert, 4.0, actor=key_actor("robot")))
    with runtime.postgres.transaction() as session:
        _, by_system, by_key = activity.of_incident(session, org.uuid, incident.id)
    assert (by_system.actor, by_key.actor) == ("system", "robot")
    assert by_system.detail.pop("since") < format_ts(by_system.at)
    assert by_system.detail == {
        **compared,
        "count": 3,
        "value": 3.0,
        "summary": "error_rate is 3.0",
    }
    assert by_key.detail["count"] == 1


def test_a_resolved_incident_stays_and_the_next_breach_opens_another(
    runtime: Runtime, org: Org
) -> None:
    alert = add_alert(runtime, org)
    first = breach(runtime, opening_of(alert)).incident
    with runtime.postgres.transaction() as session:
        service.resolve(session, runtime, org.uuid, first.id, SYSTEM)
    resolved = stored(runtime, first)
    again = breach(runtime, opening_of(alert))
    assert again.newly_opened
    assert again.incident.id != first.id
    assert stored(runtime, first).last_breach_at == resolved.last_breach_at
    assert created(runtime, org) == 2


def test_a_report_leaves_the_last_measured_breach(runtime: Runtime, org: Org) -> None:
    alert, ann = add_alert(runtime, org), new_actor(runtime, org)
    incident = breach(runtime, opening_of(alert)).incident
    report = Breach(None, "customers call", None)
    reported = opening_of(alert, source="manual", breach=report, actor=ann)
    assert not breach(runtime, reported).newly_opened
    row = stored(runtime, incident)
    assert (row.breach_value, row.breach_summary) == (0.5, "error_rate is 0.5")
    assert row.evidence == {"value": 0.5}
    assert row.last_breach_at > row.opened_at
    with runtime.postgres.transaction() as session:
        [_, told] = activity.of_incident(session, org.uuid, incident.id)
        [subscriber] = subscribers.list_(session, org.uuid, incident.id)
    assert (told.actor, told.detail["summary"]) == (ann.name, "customers call")
    assert (subscriber.email, subscriber.source) == (ann.email, "creator")


def test_alerts_and_organizations_have_incidents_of_their_own(runtime: Runtime, org: Org) -> None:
    first, second = (open_incident(runtime, org) for _ in range(2))
    third = open_incident(runtime, make_org(runtime))
    assert len({first.id, second.id, third.id}) == 3
    with runtime.postgres.transaction() as session:
        assert listing.open_counts(session, org.uuid) == {first.alert_id: 1, second.alert_id: 1}
        service.resolve(session, runtime, org.uuid, str(first.id), SYSTEM)
        assert listing.open_counts(session, org.uuid) == {second.alert_id: 1}


def test_incidents_without_an_alert_never_fold(runtime: Runtime, org: Org) -> None:
    opening = replace(opening_of(add_alert(runtime, org)), alert_id=None, source="manual")
    made = [breach(runtime, opening) for _ in range(2)]
    assert [one.newly_opened for one in made] == [True, True]
    with runtime.postgres.transaction() as session:
        assert listing.open_counts(session, org.uuid) == {}
        assert listing.count(session, org.uuid, listing.IncidentFilter()) == 2


def test_an_alert_that_is_gone_opens_nothing(runtime: Runtime, org: Org) -> None:
    alert = add_alert(runtime, org)
    with runtime.postgres.transaction() as session:
        alerts.delete(session, org.uuid, str(alert.id))
    with pytest.raises(NotFound):
        breach(runtime, opening_of(alert))
    assert created(runtime, org) == 0


def test_a_finding_that_is_gone_opens_nothing(runtime: Runtime, org: Org) -> None:
    gone = new_id()
    opening = replace(
        opening_of(add_alert(runtime, org)),
        alert_id=None,
        finding_id=gone,
        hold=partial(hold, gone),
    )
    with pytest.raises(NotFound):
        breach(runtime, opening)
    assert created(runtime, org) == 0


def test_another_organizations_alert_opens_nothing(runtime: Runtime, org: Org) -> None:
    opening = opening_of(add_alert(runtime, make_org(runtime)))
    breach(runtime, opening)
    with pytest.raises(NotFound):
        breach(runtime, replace(opening, org_id=org.uuid))


def test_another_organizations_finding_opens_nothing(runtime: Runtime, org: Org) -> None:
    [finding] = Audited(runtime, make_org(runtime)).file(critical()).critical
    opening = replace(
        opening_of(add_alert(runtime, org)),
        alert_id=None,
        source="audit",
        finding_id=finding.id,
        hold=partial(hold, finding.id),
    )
    with pytest.raises(NotFound):
        breach(runtime, opening)
    assert created(runtime, org) == 0


def test_whatever_events_quote_fits(runtime: Runtime, org: Org) -> None:
    said = "a\x00b" + "x" * 5000
    opening = opening_of(
        add_alert(runtime, org), title=said, breach=Breach(math.nan, said, {"quoted": "a\x00b"})
    )
    row = stored(runtime, breach(runtime, opening).incident)
    assert row.breach_value is None
    assert row.title == ("a\ufffdb" + "x" * 5000)[:200]
    assert row.breach_summary == ("a\ufffdb" + "x" * 5000)[:2000]
    assert row.evidence == {"quoted": "a\x00b"}


def test_a_finding_has_one_open_incident_and_is_resolved_with_it(
    runtime: Runtime, org: Org
) -> None:
    audited = Audited(runtime, org)
    [finding] = audited.file(critical()).critical
    opening = replace(
        opening_of(add_alert(runtime, org)),
        alert_id=None,
        source="audit",
        finding_id=finding.id,
        hold=partial(hold, finding.id),
    )
    first = breach(runtime, opening)
    again = breach(runtime, replace(opening, breach=Breach(None, "again", None)))
    assert (first.newly_opened, again.newly_opened) == (True, False)
    assert again.incident.id == first.incident.id
    assert stored(runtime, first.incident).breach_summary == "again"
    with runtime.postgres.transaction() as session:
        resolve_with_finding(
            session, runtime, org.uuid, first.incident.id, key_actor("ann@example.com")
        )
    with runtime.postgres.transaction() as session:
        assert session.get_one(Finding, finding.id).status == "resolved"
    assert stored(runtime, first.incident).source_finding_id == finding.id
