"""Findings of audits for decisions about them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

from shared.foundation.core.actor import SYSTEM
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings.incident import hold
from shared.watch.audits.findings.models import Finding
from shared.watch.audits.findings.triage import act
from shared.watch.incidents.models import Incident
from shared.watch.incidents.opening import Breach, Opening
from shared.watch.incidents.service import open_incident
from tests.support.findings import Audited
from tests.support.incidents import key_actor
from tests.support.runtime import Org

Act = Callable[..., Finding]


@pytest.fixture
def audited(runtime: Runtime, org: Org) -> Audited:
    return Audited(runtime, org)


@pytest.fixture
def do(runtime: Runtime) -> Act:
    """`do("mute", finding)` performs an action and returns the finding."""

    def done(action: Any, finding: Finding, **details: Any) -> Finding:
        by = details.pop("by", "somebody")
        with runtime.postgres.transaction() as session:
            return act(
                session, runtime, finding.org_id, str(finding.id), action, key_actor(by), **details
            )

    return done


@pytest.fixture
def fire(runtime: Runtime) -> Callable[[Finding], Incident]:
    """Opens the incident of a finding, as a run does for a critical one."""

    def fired(finding: Finding) -> Incident:
        opening = Opening(
            org_id=finding.org_id,
            title=finding.title,
            source="audit",
            severity="critical",
            breach=Breach(None, finding.description, finding.evidence),
            actor=SYSTEM,
            finding_id=finding.id,
            hold=partial(hold, finding.id),
        )
        with runtime.postgres.transaction() as session:
            return open_incident(session, runtime, opening).incident

    return fired


@pytest.fixture
def incidents(runtime: Runtime, org: Org) -> Callable[[], list[Incident]]:
    """Returns the organization's incidents, the oldest first."""

    def read() -> list[Incident]:
        query = select(Incident).where(Incident.org_id == org.uuid).order_by(Incident.opened_at)
        with runtime.postgres.transaction() as session:
            return list(session.scalars(query))

    return read
