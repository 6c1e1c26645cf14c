"""A purge removes all of one organization and nothing else, whatever happens meanwhile."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, text

from shared.access import organizations
from shared.access.organizations import lifecycle
from shared.access.users import User
from shared.access.users.sign_in.models import SignInCode, SignInSession
from shared.foundation.cache import at_once
from shared.foundation.core.clock import now_us
from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.waiting import event_stream, orgs_with_events
from shared.intake.ingest import stream
from shared.intake.ingest.decode import decode_events
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.intake.receipts.flushing import flush_all
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import Receipt, digest_of
from shared.upkeep.purge import late
from shared.upkeep.purge.service import PurgeCounts, purge
from tests.support.events import event, store_events
from tests.support.people import add_member
from tests.support.processes import wait_until
from tests.support.runtime import Org, make_org
from tests.support.tenants import EVENTS, SESSIONS, Footprint, fill, footprint

WAITING = "waiting for rows that are being stored"


class Killed(Exception):
    """Ends a purge at one of its progress messages."""


def tell_nobody(_doing: str) -> None:
    """Ignores a progress message."""


def run(runtime: Runtime, org: Org) -> PurgeCounts:
    return purge(runtime, org.slug, confirmed=org.slug, tell=tell_nobody)


def delete(runtime: Runtime, org: Org) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        lifecycle.delete(session, org.slug)


@pytest.fixture
def gone(runtime: Runtime, org: Org) -> Org:
    """A deleted organization with data in every place."""
    fill(runtime, org)
    delete(runtime, org)
    return org


@pytest.fixture
def other(runtime: Runtime) -> Iterator[tuple[Org, Footprint]]:
    """Another organization with the same data, and its footprint."""
    made = make_org(runtime)
    fill(runtime, made)
    yield made, footprint(runtime, made)
    stream.remove(runtime.redis, made.id)


def test_everything_of_one_organization_goes_and_nothing_else(
    runtime: Runtime, other: tuple[Org, Footprint], gone: Org
) -> None:
    before = footprint(runtime, gone)
    assert all(count for count, _ in before.clickhouse.values())
    of_dashboards = ("saved_queries", "dashboards", "dashboard_tiles", "creations")
    assert [len(before.postgres[table]) for table in of_dashboards] == [1, 1, 2, 3]
    of_incidents = ("alerts", "alert_states", "budget_levels", "incidents", "incident_comments")
    assert [len(before.postgres[table]) for table in of_incidents] == [1, 1, 1, 1, 1]
    about_one = ("incident_subscribers", "incident_activity")
    assert [len(before.postgres[table]) for table in about_one] == [1, 2]
    purged = run(runtime, gone)
    assert footprint(runtime, gone).is_empty
    counted = {table: len(rows) for table, rows in before.postgres.items()}
    accounts = {"users": 1, "sign_in_codes": 1, "sign_in_guesses": 0}
    accounts["mails"] = counted["mails"] + 1
    assert purged.postgres == {**counted, **accounts}
    assert purged.clickhouse == {
        "events": EVENTS,
        "agent_sessions": SESSIONS,
        "evaluations": SESSIONS,
        "own_evaluations": SESSIONS,
    }
    # The stream is one of the keys, and is counted by its batches.
    assert purged.redis == {
        "waiting_batches": 2,
        "waiting_records": 0,
        "dead_letters": 1,
        "keys": len(before.redis) - 1,
    }
    assert footprint(runtime, other[0]) == other[1]


def test_every_table_with_an_organization_is_covered(runtime: Runtime, gone: Org) -> None:
    """Tables of later releases are found by their column."""
    with runtime.postgres.transaction() as session:
        session.execute(text('CREATE TABLE "later Table" (org_id uuid, n int)'))
        session.execute(
            text('INSERT INTO "later Table" SELECT :org_id, generate_series(1, 10001)'),
            {"org_id": gone.uuid},
        )
    runtime.clickhouse.execute(
        "CREATE TABLE later_table (org_id String, n UInt8) ENGINE = MergeTree ORDER BY n"
    )
    runtime.clickhouse.insert("later_table", {"org_id": [gone.id, "x"], "n": [1, 2]})
    try:
        purged = run(runtime, gone)
        assert purged.postgres["later Table"] == 10_001
        assert purged.clickhouse["later_table"] == 1
        assert runtime.clickhouse.rows("SELECT org_id FROM later_table") == [("x",)]
    finally:
        runtime.clickhouse.execute("DROP TABLE later_table SYNC")
        with runtime.postgres.transaction() as session:
            session.execute(text('DROP TABLE "later Table"'))


def test_an_account_goes_with_its_last_membership(runtime: Runtime, org: Org) -> None:
    elsewhere = make_org(runtime)
    ours, shared = fill(runtime, org), fill(runtime, elsewhere)
    with runtime.postgres.transaction() as session:
        email = session.scalars(select(User.email).where(User.id == shared)).one()
    add_member(runtime, org, email=email)
    delete(runtime, org)
    assert run(runtime, org).postgres["users"] == 1
    with runtime.postgres.transaction() as session:
        assert session.get(User, ours) is None
        assert session.get(User, shared) is not None
        assert session.get(SignInCode, email) is not None
        open_sessions = select(SignInSession.user_id).where(
            SignInSession.user_id.in_([ours, shared])
        )
        assert session.scalars(open_sessions).all() == [shared]
    stream.remove(runtime.redis, elsewhere.id)


@pytest.mark.parametrize(
    "moment", ["Redis", "ClickHouse: agent_sessions", "ClickHouse: events", "PostgreSQL", WAITING]
)
def test_an_interrupted_purge_is_run_again(runtime: Runtime, gone: Org, moment: str) -> None:
    def tell(doing: str) -> None:
        if doing == moment:
            raise Killed

    with pytest.raises(Killed):
        purge(runtime, gone.slug, confirmed=gone.slug, tell=tell)
    left = footprint(runtime, gone)
    assert left.postgres["organizations"]
    purged = run(runtime, gone)
    assert purged.clickhouse["evaluations"] == left.clickhouse["evaluations"][0]
    assert purged.postgres["api_keys"] == len(left.postgres["api_keys"])
    assert footprint(runtime, gone).is_empty
    with pytest.raises(NotFound):
        run(runtime, gone)


def test_a_block_that_a_worker_holds_is_waited_for(
    runtime: Runtime, gone: Org, other: tuple[Org, Footprint]
) -> None:
    waits = threading.Event()

    def tell(doing: str) -> None:
        if doing == WAITING:
            waits.set()

    with ThreadPoolExecutor(1) as pool:
        with runtime.postgres.transaction() as session:
            assert organizations.hold(session, [gone.uuid]) == {gone.uuid}
            purging = pool.submit(purge, runtime, gone.slug, confirmed=gone.slug, tell=tell)
            wait_until(lambda: waits.is_set() or purging.done())
            assert not purging.done(), purging.result()
            # Meanwhile others' events are stored as usual.
            Drain(runtime, "other", IngestRulesCache(runtime)).run()
            assert other[0].id not in orgs_with_events(runtime.redis)
            assert not purging.done(), purging.result()
            store_events(runtime.clickhouse, gone.id, [event("late", "10:00:00")])
        purged = purging.result()
    assert purged.clickhouse["events"] == EVENTS + 1
    assert purged.clickhouse["agent_sessions"] == SESSIONS + 1
    assert footprint(runtime, gone).is_empty


def test_a_batch_that_comes_later_is_dropped(runtime: Runtime, gone: Org) -> None:
    live = make_org(runtime)
    run(runtime, gone)
    row = Origin("events", "", "sender").of()
    for org in (gone, live):
        batch = decode_events([event("s", "10:00:00")], org.id, 10_000).batch
        receipt = Receipt(now_us(), {row: {"requests": 1, "accepted": 1}}, digest_of(b"x"))
        stream.append(runtime.redis, org.id, org.slug, batch, receipt)
        runtime.redis.xadd(
            event_stream(org.id), {"slug": org.slug, "data": b"no batch", "request_id": ""}
        )
    Drain(runtime, "late", IngestRulesCache(runtime)).run()
    assert footprint(runtime, live).clickhouse["events"][0] == 1
    assert footprint(runtime, live).dead_letters == 1
    flush_all(runtime.postgres, runtime.redis)
    late.sweep(runtime.postgres, runtime.redis)
    assert footprint(runtime, gone).is_empty


def test_a_sweep_leaves_an_organization_that_is_still_there(runtime: Runtime, gone: Org) -> None:
    before = footprint(runtime, gone)
    late.expect(runtime.redis, gone.id)
    late.sweep(runtime.postgres, runtime.redis)
    assert footprint(runtime, gone) == before


def test_an_organization_cannot_be_restored_during_its_purge(runtime: Runtime, gone: Org) -> None:
    def tell(doing: str) -> None:
        if doing == "PostgreSQL":
            with runtime.postgres.transaction() as session:
                session.execute(text("SET LOCAL lock_timeout = '100ms'"))
                lifecycle.restore(session, gone.slug)

    with pytest.raises(Exception, match="unavailable"):
        purge(runtime, gone.slug, confirmed=gone.slug, tell=tell)
    run(runtime, gone)


def test_only_what_is_deleted_and_named_twice_is_purged(runtime: Runtime, org: Org) -> None:
    fill(runtime, org)
    before = footprint(runtime, org)
    with pytest.raises(Conflict, match="is not deleted"):
        run(runtime, org)
    with pytest.raises(NotFound):
        purge(runtime, "nobody", confirmed="nobody", tell=tell_nobody)
    delete(runtime, org)
    with pytest.raises(Invalid):
        purge(runtime, org.slug, confirmed=org.slug + "x", tell=tell_nobody)
    with at_once(runtime.postgres, runtime.redis) as session:
        lifecycle.restore(session, org.slug)
    after = footprint(runtime, org)
    # Both the deletion and its undoing are in the audit log.
    assert len(after.postgres.pop("audit_log")) == len(before.postgres.pop("audit_log")) + 2
    assert after == before
    stream.remove(runtime.redis, org.id)
