"""Recipients of mails about actions over HTTP."""

from collections.abc import Callable
from functools import partial

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from shared.access.keys import service as keys
from shared.access.keys.rules import new_secret
from shared.access.keys.service import NewKey
from shared.access.permissions import FOR_KEYS
from shared.foundation.core.actor import SYSTEM
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings.incident import hold
from shared.watch.incidents import service as incidents
from shared.watch.incidents.opening import Breach, Opening
from tests.support.app import Headers, bearer
from tests.support.findings import Audited, candidate
from tests.support.people import new_email
from tests.support.runtime import Org
from tests.web.incidents.conftest import Desk

Person = Callable[..., Headers]
STEPS: list[tuple[str, dict[str, object]]] = [
    ("ack", {}),
    ("assign", {"assignees": []}),
    ("comments", {"body": "?"}),
    ("resolve", {}),
]


@pytest.fixture
def told(runtime: Runtime, org: Org) -> Callable[[str], list[str]]:
    """`told("ann@example.org")` returns the subjects of the mails about incidents, in order."""

    def read(email: str) -> list[str]:
        query = text(
            "SELECT context ->> 'event' FROM mails WHERE org_id = :org_id AND recipient = :email"
            " AND kind = 'incident_activity' ORDER BY created_at"
        )
        with runtime.postgres.transaction() as session:
            return list(session.scalars(query, {"org_id": org.uuid, "email": email}))

    return read


def test_a_person_gets_no_mail_about_their_own_action(
    desk: Desk, person: Person, told: Callable[[str], list[str]]
) -> None:
    ann, bob = new_email(), new_email()
    anns, bobs = person(email=ann), person(email=bob)
    incident = desk.open(anns)
    desk.act(incident, "subscribe", bobs)
    desk.act(incident, "assign", assignees=[bob])
    for action, body in STEPS:
        assert desk.act(incident, action, anns, **body).status_code in {200, 201}
    assert told(ann) == ["assigned"]
    assert told(bob) == ["assigned", "acknowledged", "assigned", "commented", "resolved"]


def test_a_key_that_is_named_like_a_person_is_not_that_person(
    desk: Desk, runtime: Runtime, org: Org, person: Person, told: Callable[[str], list[str]]
) -> None:
    bob = new_email()
    incident = desk.open(person(email=bob))
    desk.act(incident, "assign", assignees=[bob])
    secret = new_secret()
    with runtime.postgres.transaction() as session:
        wanted = NewKey(name=bob, secret=secret, permissions=FOR_KEYS)
        keys.create(session, org.uuid, wanted, granter=FOR_KEYS)
    for action, body in STEPS:
        assert desk.act(incident, action, bearer(secret), **body).status_code in {200, 201}
    assert told(bob) == ["assigned", "acknowledged", "assigned", "commented", "resolved"]


def test_the_resolver_of_a_finding_gets_no_mail_about_its_incident(
    client: FlaskClient,
    runtime: Runtime,
    org: Org,
    desk: Desk,
    person: Person,
    told: Callable[[str], list[str]],
) -> None:
    audited = Audited(runtime, org)
    audited.file(candidate())
    finding = audited.finding()
    opening = Opening(
        org_id=org.uuid,
        title=finding.title,
        source="audit",
        severity="critical",
        breach=Breach(None, finding.description, None),
        actor=SYSTEM,
        finding_id=finding.id,
        hold=partial(hold, finding.id),
    )
    with runtime.postgres.transaction() as session:
        incident = incidents.open_incident(session, runtime, opening).incident
    ann, bob = new_email(), new_email()
    anns, bobs = person(email=ann), person(email=bob)
    for headers in (anns, bobs):
        desk.act(str(incident.id), "subscribe", headers)
    path = f"/v1/audits/findings/{finding.id}/status"
    assert client.post(path, json={"action": "resolve"}, headers=anns).status_code == 200
    assert (told(ann), told(bob)) == ([], ["resolved"])
