"""Recipients of mails about an incident, through the real outbox and a mail server."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec
import pytest
from sqlalchemy.orm import Session

from shared.foundation.core.actor import Actor
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.watch.incidents import comments, lifecycle, service, subscribers
from shared.watch.incidents.models import Incident
from tests.support.incidents import (
    add_alert,
    breach,
    key_actor,
    new_actor,
    open_incident,
    opening_of,
)
from tests.support.mails import Outbox
from tests.support.runtime import Org
from tests.support.smtp import running_smtp

Write = Callable[[Session], object]


class Watched:
    """An incident that ann and bob are subscribed to."""

    def __init__(self, runtime: Runtime, org: Org, outbox: Outbox) -> None:
        self.runtime, self.org, self.outbox = runtime, org, outbox
        self.incident: Incident = open_incident(runtime, org, name="Errors <rise>")
        self.id = str(self.incident.id)
        self.ann, self.bob = (new_actor(runtime, org) for _ in range(2))
        for actor in (self.ann, self.bob):
            with runtime.postgres.transaction() as session:
                subscribers.subscribe(session, org.uuid, self.id, actor, None)

    def write(self, write: Write) -> None:
        """Writes in a separate transaction."""
        with self.runtime.postgres.transaction() as session:
            write(session)

    def acknowledge(self, actor: Actor) -> None:
        """Acknowledges the incident."""
        self.write(
            lambda session: lifecycle.acknowledge(
                session, self.runtime, self.org.uuid, self.id, actor
            )
        )

    def assign(self, actor: Actor, *emails: str | None) -> None:
        """Assigns the incident."""
        self.write(
            lambda session: lifecycle.assign(
                session, self.runtime, self.org.uuid, self.id, actor, [str(e) for e in emails]
            )
        )

    def comment(self, actor: Actor, body: str) -> None:
        """Comments on the incident."""
        self.write(
            lambda session: comments.create(
                session, self.runtime, self.org.uuid, self.id, actor, body
            )
        )

    def resolve(self, by: str, email: str | None = None) -> None:
        """Resolves the incident."""
        actor = Actor(new_id(), by, email)
        self.write(
            lambda session: service.resolve(session, self.runtime, self.org.uuid, self.id, actor)
        )

    def told(self) -> list[tuple[str, str]]:
        """Returns the recipients and subjects of the mails in the outbox, sorted."""
        rows = [row for row in self.outbox.rows() if row["kind"] == "incident_activity"]
        return sorted((row["recipient"], row["context"]["event"]) for row in rows)


@pytest.fixture
def outbox(runtime: Runtime, org: Org) -> Iterator[Outbox]:
    with running_smtp() as smtp:
        yield Outbox(runtime, org, smtp)


@pytest.fixture
def watched(runtime: Runtime, org: Org, outbox: Outbox) -> Watched:
    return Watched(runtime, org, outbox)


def test_subscribers_get_one_mail_each_but_for_who_did_it(watched: Watched) -> None:
    ann, bob = watched.ann.name, watched.bob.name
    assert watched.told() == []
    watched.acknowledge(watched.ann)
    assert watched.told() == [(bob, "acknowledged")]
    watched.assign(watched.ann, ann, bob)
    watched.comment(watched.bob, "it is\nthe <cache>")
    watched.resolve("system")
    events = {"acknowledged", "assigned", "commented", "resolved"}
    assert {told for told in watched.told() if told[0] == bob} == {
        (bob, event) for event in events - {"commented"}
    }
    assert [event for to, event in watched.told() if to == ann] == ["commented", "resolved"]


def test_the_mails_that_arrive_say_what_happened(watched: Watched) -> None:
    watched.acknowledge(watched.ann)
    watched.assign(watched.ann, watched.bob.name)
    watched.comment(watched.ann, "it is\nthe <cache>")
    watched.resolve(watched.ann.name)
    while watched.outbox.run():
        pass
    received = watched.outbox.smtp.to(watched.bob.name)
    said = {str(mail.message["Subject"]): mail.text for mail in received}
    assert len(received) == len(said)
    subjects = [
        f"Errors <rise>: {event} by {watched.ann.name}"
        for event in ("acknowledged", "assigned", "commented", "resolved")
    ]
    assert sorted(said) == subjects
    assert f"{watched.ann.name} acknowledged it." in said[subjects[0]]
    assert f"assigned it to: {watched.bob.name}" in said[subjects[1]]
    assert "it is the <cache>" in said[subjects[2]]
    assert f"{watched.ann.name} resolved it." in said[subjects[3]]
    for text in said.values():
        assert f"Incident (critical) of {watched.org.slug}: Errors <rise>" in text
        assert watched.id in text


def test_only_the_resolver_gets_no_mail(watched: Watched) -> None:
    watched.resolve(watched.ann.name, watched.ann.email)
    assert watched.told() == [(watched.bob.name, "resolved")]


def test_a_key_that_is_named_like_a_person_keeps_no_mail_from_them(watched: Watched) -> None:
    bob = watched.bob.name
    impostor = key_actor(bob)
    watched.acknowledge(impostor)
    watched.assign(impostor, watched.ann.name)
    watched.comment(impostor, "?")
    watched.resolve(impostor.name, impostor.email)
    events = ["acknowledged", "assigned", "commented", "resolved"]
    assert [event for to, event in watched.told() if to == bob] == events


def test_a_second_acknowledgement_is_mailed_too(watched: Watched) -> None:
    watched.acknowledge(watched.ann)
    watched.acknowledge(watched.bob)
    told = [(watched.ann.name, "acknowledged"), (watched.bob.name, "acknowledged")]
    assert watched.told() == sorted(told)


def test_an_ineffective_change_is_not_mailed(watched: Watched) -> None:
    watched.acknowledge(watched.ann)
    watched.assign(watched.ann, watched.bob.name)
    before = watched.told()
    watched.acknowledge(watched.ann)
    watched.assign(watched.bob, watched.bob.name)
    assert watched.told() == before


def test_breaches_and_subscriptions_are_not_mailed(
    runtime: Runtime, org: Org, watched: Watched
) -> None:
    alert = add_alert(runtime, org)
    opening = replace(opening_of(alert), actor=watched.ann)
    breach(runtime, opening)
    breach(runtime, opening)
    who = (org.uuid, watched.id, watched.bob)
    watched.write(lambda session: subscribers.unsubscribe(session, *who, watched.ann.email))
    watched.write(lambda session: subscribers.subscribe(session, *who, watched.ann.email))
    assert watched.told() == []


def test_an_unsubscribed_member_gets_no_mail(org: Org, watched: Watched) -> None:
    watched.write(
        lambda session: subscribers.unsubscribe(session, org.uuid, watched.id, watched.ann, None)
    )
    watched.comment(watched.bob, "?")
    assert watched.told() == []


@pytest.mark.parametrize(
    "change",
    [
        "disabled_at = now()",
        "permission_set = NULL, permission_added = '{incidents:ack}'",
        "is_pending = true",
    ],
)
def test_a_member_who_may_not_read_it_or_not_yet_gets_no_mail(
    watched: Watched, change: str
) -> None:
    watched.outbox.sql(
        f"UPDATE memberships SET {change} WHERE org_id = :org_id AND user_id = :user",
        user=watched.ann.id,
    )
    watched.comment(key_actor(), "?")
    assert watched.told() == [(watched.bob.name, "commented")]


def test_no_mail_goes_beyond_those_of_a_day(watched: Watched) -> None:
    settings = msgspec.structs.replace(watched.runtime.settings, org_mails_per_day=3)
    watched.runtime = replace(watched.runtime, settings=settings)
    for number in range(10):
        watched.comment(watched.ann, f"comment {number}")
    assert watched.told() == [(watched.bob.name, "commented")] * 3


def test_a_rolled_back_change_is_not_mailed(watched: Watched) -> None:
    def fail(session: Session) -> None:
        service.resolve(session, watched.runtime, watched.org.uuid, watched.id, key_actor("robot"))
        raise RuntimeError("as if the database had refused")

    with pytest.raises(RuntimeError, match="as if"):
        watched.write(fail)
    assert watched.told() == []
