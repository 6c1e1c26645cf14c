"""All data of an organization in the three stores: created for a test, and compared."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import inspect, text
from sqlalchemy.orm import Session

from shared.access import mail
from shared.access.mail import Letter
from shared.access.users.sign_in.models import SignInCode
from shared.assistant.conversations import service as conversations
from shared.assistant.conversations.messages import Thread
from shared.evaluation.evaluation_jobs.watching import StoredSession, watch
from shared.foundation.core.actor import Actor
from shared.foundation.core.clock import now, now_us
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.waiting import orgs_with_events
from shared.intake.ingest import dead_letters, stream
from shared.intake.ingest.batch import encode_batch
from shared.intake.ingest.decode import decode_events
from shared.intake.receipts.flushing import flush
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import Receipt, count, digest_of
from shared.intake.receipts.skipped import Skip
from shared.reading.dashboards import service as dashboards
from shared.reading.dashboards import tiles
from shared.reading.dashboards.rules import DashboardContent, TileContent
from shared.reading.evaluations import store as evaluations
from shared.reading.evaluations.records import EvaluatedResult
from shared.reading.events.facets import facet_values
from shared.reading.queries import service as queries
from shared.reading.queries.service import QueryContent
from shared.watch.alerts.evaluation.budgets.models import BudgetLevel
from shared.watch.incidents import comments
from tests.support.app import new_key
from tests.support.evaluations import evaluation
from tests.support.events import event, store_events
from tests.support.findings import Audited, candidate
from tests.support.incidents import open_incident
from tests.support.jobs import insert_job
from tests.support.people import add_member, new_email, signed_in
from tests.support.runtime import Org

EVENTS, SESSIONS = 40, 4


@dataclass(frozen=True)
class Footprint:
    """All data with the organization's id: row counts and a digest by table, keys with values."""

    postgres: dict[str, list[Any]]
    clickhouse: dict[str, tuple[int, int]]
    redis: dict[bytes, bytes | None]
    dead_letters: int
    is_active: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return not (
            any(self.postgres.values())
            or any(count for count, _ in self.clickhouse.values())
            or self.redis
            or self.dead_letters
            or self.is_active
        )


def footprint(runtime: Runtime, org: Org) -> Footprint:
    """Returns all data of an organization now."""
    letters = [one for one in dead_letters.letters(runtime.redis) if one.org_id == org.id]
    keys = sorted(runtime.redis.scan_iter(match=f"*{org.id}*"))
    return Footprint(
        postgres=_postgres(runtime, org),
        clickhouse=_clickhouse(runtime, org),
        redis={key: runtime.redis.dump(key) for key in keys},
        dead_letters=len(letters),
        is_active=org.id in orgs_with_events(runtime.redis),
    )


def _postgres(runtime: Runtime, org: Org) -> dict[str, list[Any]]:
    found = {}
    with runtime.postgres.transaction() as session:
        inspector = inspect(session.connection())
        for table in inspector.get_table_names():
            columns = {column["name"] for column in inspector.get_columns(table)}
            name = "id" if table == "organizations" else "org_id"
            if name in columns:
                rows = text(f"SELECT row::text FROM {table} AS row WHERE {name} = :id ORDER BY 1")
                found[table] = list(session.scalars(rows, {"id": org.uuid}))
    return found


def _clickhouse(runtime: Runtime, org: Org) -> dict[str, tuple[int, int]]:
    found = {}
    for table in ("events", "agent_sessions", "evaluations", "own_evaluations"):
        # Every byte of every column, including aggregate states.
        digest = "groupBitXor(sipHash64(formatRow('RowBinary', *)))"
        sql = f"SELECT count(), {digest} FROM {table} FINAL WHERE org_id = {{org_id:String}}"
        [(count, digest)] = runtime.clickhouse.rows(sql, {"org_id": org.id})
        found[table] = (count, digest)
    return found


def fill(runtime: Runtime, org: Org) -> uuid.UUID:
    """Stores something of the organization in every place. Returns the account of its member."""
    lines = [event(f"s{n % SESSIONS}", f"10:00:{n:02}", n=n) for n in range(EVENTS)]
    store_events(runtime.clickhouse, org.id, lines)
    # The same events again: reads count them as one row.
    store_events(runtime.clickhouse, org.id, lines)
    results = [evaluation(org.id, f"s{n}", now_us()) for n in range(SESSIONS)]
    value = EvaluatedResult(key="tone", kind="category", value="warm", evidence=("7",))
    of_own: dict[str, Any] = {"evaluator": "own", "results": (value,), "covered_until": now_us()}
    results += [evaluation(org.id, f"s{n}", now_us(), **of_own) for n in range(SESSIONS)]
    evaluations.insert(runtime.clickhouse, results)
    batch = decode_events(lines[:1], org.id, 10_000).batch
    stream.append(runtime.redis, org.id, org.slug, batch)
    stream.append(runtime.redis, org.id, org.slug, batch)
    dead_letters.bury(runtime.redis, org.id, org.slug, encode_batch(batch), "refused")
    _bring_receipts(runtime, org)
    facet_values(runtime.clickhouse, runtime.redis, org.id, "environments")
    # Remove the expiry, because tests count this key at any later time.
    assert runtime.redis.persist(f"facet:{org.id}:environments")
    new_key(runtime, org)
    email = new_email()
    user_id = add_member(runtime, org, email=email)
    signed_in(runtime, user_id)
    with runtime.postgres.transaction() as session:
        made = conversations.create(session, org.uuid, user_id)
        thread = Thread(b'[{"role":"user","content":1}]', 1)
        conversations.replace_messages(session, org.uuid, user_id, str(made.id), thread)
        for org_id in (org.uuid, None):
            letter = Letter("invitation", email, org_id, {"org_name": "a", "invited_by": "b"})
            mail.enqueue(session, runtime.queue, letter)
        session.add(
            SignInCode(
                email=email, salt=b"s", code_hash=b"h", expires_at=now() + timedelta(minutes=9)
            )
        )
        session.execute(
            text("INSERT INTO evaluator_turns VALUES (:org_id, now())"), {"org_id": org.uuid}
        )
        stored = [StoredSession(org.uuid, org.slug, "s1", has_agent_end=False)]
        watch(session, runtime.settings, stored)
        insert_job(session, org, "s1")
        _fill_dashboard(session, org.uuid)
    _fill_incident(runtime, org, user_id, email)
    Audited(runtime, org).file(candidate())
    return user_id


def _bring_receipts(runtime: Runtime, org: Org) -> None:
    row = Origin("events", "", "sender").of()
    skips = ((row, Skip("1", "is not JSON", "x")),)
    for _ in range(2):
        flush(runtime.postgres, runtime.redis, org.id)
        receipt = Receipt(now_us(), {row: {"requests": 1}}, digest_of(b"x"), skips)
        count(runtime.redis, [(org.id, receipt)])


def _fill_incident(runtime: Runtime, org: Org, user_id: uuid.UUID, email: str) -> None:
    """Creates an incident of an alert, with a level of a budget and a comment of its member."""
    incident, actor = open_incident(runtime, org), Actor(user_id, email, email)
    with runtime.postgres.transaction() as session:
        session.add(
            BudgetLevel(
                org_id=org.uuid,
                alert_id=incident.alert_id,
                spec_revision=1,
                starts_at=now(),
                group_value="",
                level=80,
            )
        )
        comments.create(session, runtime, org.uuid, str(incident.id), actor, "hm")


def _fill_dashboard(session: Session, org_id: uuid.UUID) -> None:
    content = QueryContent("q", "", "SELECT count() FROM events", [])
    query = queries.create(session, org_id, content, schema="", created_by="t")
    wanted = DashboardContent("d", "", {})
    dashboard = dashboards.create(session, org_id, wanted, created_by="t")
    for _ in range(2):
        tile = TileContent(str(query.id), "", "pie", {}, {}, {})
        tiles.create(session, org_id, str(dashboard.id), tile)
