"""Of two equal concurrent actions, one takes effect, and the other sees it done."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.foundation.core.actor import SYSTEM
from shared.foundation.core.errors import Conflict, NotFound
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import Postgres
from shared.watch.alerts import service as alerts
from shared.watch.incidents import activity, comments, lifecycle, listing, service, subscribers
from shared.watch.incidents.folding import open_or_fold
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
from tests.support.processes import wait_until
from tests.support.runtime import Org

T = TypeVar("T")

OPENERS = 100
# Fewer than the database's connections.
AT_ONCE = 20


def all_at_once(runtime: Runtime, times: int, write: Callable[[Session], T]) -> list[T | str]:
    """Returns the result of each of `times` transactions, or the name of its error."""
    postgres = Postgres(runtime.settings.database_url, pool_size=AT_ONCE)
    places, start = threading.Semaphore(AT_ONCE), threading.Barrier(times)

    def one() -> T | str:
        start.wait()
        try:
            with places, postgres.transaction() as session:
                return write(session)
        except (Conflict, NotFound) as error:
            return type(error).__name__

    try:
        with ThreadPoolExecutor(times) as threads:
            running = [threads.submit(one) for _ in range(times)]
            return [future.result() for future in running]
    finally:
        postgres.close()


def test_a_hundred_openers_of_one_alert_open_one_incident(runtime: Runtime, org: Org) -> None:
    opening = opening_of(add_alert(runtime, org))
    made = all_at_once(runtime, OPENERS, lambda session: open_or_fold(session, opening))
    opened = [one for one in made if not isinstance(one, str)]
    assert len(opened) == OPENERS
    assert len({one.incident.id for one in opened}) == 1
    assert [one.newly_opened for one in opened].count(True) == 1
    with runtime.postgres.transaction() as session:
        assert listing.count(session, org.uuid, listing.ALL) == 1
    assert kinds(runtime, opened[0].incident) == ["opened", "breached"]


def test_openers_and_resolvers_leave_one_open_incident_at_most(runtime: Runtime, org: Org) -> None:
    opening = opening_of(add_alert(runtime, org))
    turns = iter(range(40))

    def write(session: Session) -> bool:
        opened = open_or_fold(session, opening)
        if next(turns) % 2:
            service.resolve(session, runtime, org.uuid, opened.incident.id, SYSTEM)
        return opened.newly_opened

    made = all_at_once(runtime, 40, write)
    with runtime.postgres.transaction() as session:
        incidents = listing.list_(session, org.uuid, listing.ALL, limit=100)
    assert len(incidents) == made.count(True)
    assert sum(one.state == "resolved" for one in incidents) == 20
    assert sum(one.state != "resolved" for one in incidents) <= 1


def test_the_first_of_many_acknowledgements_is_kept(runtime: Runtime, org: Org) -> None:
    incident = open_incident(runtime, org)
    actors = iter([new_actor(runtime, org) for _ in range(6)])

    def write(session: Session) -> str | None:
        actor = next(actors)
        return lifecycle.acknowledge(
            session, runtime, org.uuid, str(incident.id), actor
        ).acknowledged_by

    [by] = set(all_at_once(runtime, 6, write))
    assert stored(runtime, incident).acknowledged_by == by
    with runtime.postgres.transaction() as session:
        [_, first, *others] = activity.of_incident(session, org.uuid, incident.id)
        assert (first.kind, first.actor, len(others)) == ("acknowledged", by, 5)
        assert len(subscribers.list_(session, org.uuid, incident.id)) == 6


def test_one_of_many_resolves(runtime: Runtime, org: Org) -> None:
    incident = open_incident(runtime, org)

    def write(session: Session) -> str:
        service.resolve(session, runtime, org.uuid, incident.id, key_actor("robot"))
        return "resolved"

    assert sorted(all_at_once(runtime, 6, write)) == ["Conflict"] * 5 + ["resolved"]
    assert kinds(runtime, incident) == ["opened", "resolved"]


def test_one_of_many_deletes_a_comment(runtime: Runtime, org: Org) -> None:
    incident, ann = open_incident(runtime, org), new_actor(runtime, org)
    with runtime.postgres.transaction() as session:
        said = comments.create(session, runtime, org.uuid, str(incident.id), ann, "hm")

    def write(session: Session) -> str:
        comments.delete(
            session, org.uuid, str(incident.id), str(said.id), ann, permissions=frozenset()
        )
        return "deleted"

    assert sorted(all_at_once(runtime, 6, write)) == ["NotFound"] * 5 + ["deleted"]
    assert kinds(runtime, incident) == ["opened", "commented", "comment_deleted"]


def test_the_last_place_for_a_comment_is_taken_once(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comments, "MAX_COMMENTS", 1)
    incident, ann = open_incident(runtime, org), new_actor(runtime, org)

    def write(session: Session) -> str:
        comments.create(session, runtime, org.uuid, str(incident.id), ann, "hm")
        return "said"

    assert sorted(all_at_once(runtime, 6, write)) == ["Conflict"] * 5 + ["said"]


def test_an_alert_that_is_deleted_waits_for_who_opens_an_incident_of_it(
    runtime: Runtime, org: Org
) -> None:
    alert = add_alert(runtime, org)
    opening = opening_of(alert)
    incident = breach(runtime, opening).incident

    def delete() -> None:
        with runtime.postgres.transaction() as session:
            alerts.delete(session, org.uuid, str(alert.id))

    with ThreadPoolExecutor(2) as pool:
        with runtime.postgres.transaction() as session:
            service.resolve(session, runtime, org.uuid, incident.id, key_actor("ann@example.com"))
            opened = pool.submit(breach, runtime, opening)
            wait_until(lambda: waiting(runtime) == 1)
            deleted = pool.submit(delete)
            wait_until(lambda: waiting(runtime) == 2)
        assert opened.result().newly_opened
        deleted.result()
    with runtime.postgres.transaction() as session:
        assert listing.list_(session, org.uuid, listing.ALL, limit=10) == []


def waiting(runtime: Runtime) -> int:
    """Counts the transactions that wait for others."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with runtime.postgres.transaction() as session:
        return int(session.execute(text(query)).scalar_one())
