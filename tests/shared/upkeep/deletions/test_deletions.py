"""A deletion removes sessions from every place, and nothing else."""

import json
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from shared.access.organizations import lifecycle
from shared.assistant.conversations import service as conversations
from shared.assistant.conversations.messages import Thread
from shared.foundation.core.clock import now, now_us
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.objects import open_objects
from shared.intake.ingest import dead_letters, store
from shared.intake.ingest.accept import Ingest
from shared.intake.ingest.batch import encode_batch
from shared.intake.ingest.decode import decode_events
from shared.intake.ingest.sender import Sender
from shared.reading.evaluations import store as evaluations
from shared.reading.queries import service as queries
from shared.reading.queries.service import QueryContent
from shared.reading.sessions import deleted
from shared.upkeep.backup.create import create
from shared.upkeep.backup.moving import import_organization
from shared.upkeep.deletions import in_clickhouse, proof, running, service
from shared.upkeep.deletions.mentions import Mentions
from shared.upkeep.deletions.target import DeletionTarget, names, target_of
from shared.watch.incidents import comments
from tests.support.deletions import delete, drain, read, request, run, turn
from tests.support.evaluations import evaluation
from tests.support.events import event
from tests.support.findings import Audited, candidate
from tests.support.incidents import new_actor, open_incident
from tests.support.jobs import insert_job
from tests.support.people import add_member
from tests.support.places import places
from tests.support.processes import wait_until
from tests.support.runtime import Org, make_org

PERSON = "zoë.müller@example.org"
OTHER = "x@example.org"
THEIRS, OTHERS = "session-of-zoë", "session-of-another"


def send(runtime: Runtime, org: Org, *lines: bytes) -> None:
    Ingest(runtime).accept(
        Sender(org.id, org.slug),
        body=b"\n".join(lines),
        media_type="application/x-ndjson",
        encoding="identity",
    )


def lines_of(session_id: str, person: str, count: int = 3) -> list[bytes]:
    """Returns events of a session, the second of which names a person."""
    named: dict[int, dict[str, Any]] = {1: {"user": {"email": person}}}
    return [event(session_id, f"10:00:{n:02}", n=n, **named.get(n, {})) for n in range(count)]


def fill(runtime: Runtime, org: Org) -> None:
    """Stores events of two sessions, and mentions of the first one in every other place."""
    send(runtime, org, *lines_of(THEIRS, PERSON), *lines_of(OTHERS, OTHER))
    drain(runtime)
    for session_id in (THEIRS, OTHERS):
        evaluations.insert(runtime.clickhouse, [evaluation(org.id, session_id, now_us())])
        with runtime.postgres.transaction() as session:
            insert_job(session, org, session_id)
    bad = [json.dumps({"type": "t", "session_id": THEIRS, "user": PERSON}).encode(), b"{}"]
    send(runtime, org, *bad)
    for session_id in (THEIRS, OTHERS):
        batch = decode_events(lines_of(session_id, PERSON, 1), org.id, 10_000).batch
        dead_letters.bury(runtime.redis, org.id, org.slug, encode_batch(batch), "refused")
    Audited(runtime, org).file(
        candidate(session_ids=(THEIRS, OTHERS), description=f"{PERSON}: timeout")
    )
    incident = open_incident(runtime, org)
    actor = new_actor(runtime, org)
    user_id = add_member(runtime, org)
    with runtime.postgres.transaction() as session:
        comments.create(session, runtime, org.uuid, str(incident.id), actor, f"ask {PERSON}")
        for words in (f"what did {PERSON} do in {THEIRS}?", "nothing"):
            made = conversations.create(session, org.uuid, user_id)
            messages = json.dumps([{"role": "user", "content": words}]).encode()
            conversations.replace_messages(
                session, org.uuid, user_id, str(made.id), Thread(messages, 1)
            )
        wanted = QueryContent("q", "", f"SELECT * FROM events WHERE session_id = '{THEIRS}'", [])
        queries.create(session, org.uuid, wanted, schema="", created_by="t")


EVERYWHERE = {
    "events",
    "agent_sessions",
    "evaluations",
    "evaluation_jobs",
    "findings",
    "incident_comments",
    "conversations",
    "saved_queries",
    "audit_log",
    "dead_letters",
    "skipped",
}


@pytest.mark.parametrize("by_person", [False, True])
def test_a_deletion_reaches_every_place_and_no_other_session(
    runtime: Runtime, org: Org, by_person: bool
) -> None:
    other = make_org(runtime)
    fill(runtime, other)
    fill(runtime, org)
    before = places(runtime, org, PERSON, THEIRS)
    assert before == EVERYWHERE
    kept = rows_of(runtime, org, OTHERS)
    target = target_of(None, "user.email", PERSON) if by_person else target_of([THEIRS], None, None)
    preview = service.preview(runtime, org.uuid, target)

    done = delete(runtime, org, target)

    assert done.error is None
    # People's configuration stays; it is counted. By a session's id alone nobody knows the person.
    words = (PERSON, THEIRS) if by_person else (THEIRS,)
    assert places(runtime, org, *words) == {"saved_queries", "audit_log"}
    assert done.remaining == {"saved_queries": 1, "audit_log": 1}
    assert (done.value, done.session_ids) == (None, None)
    assert done.sessions == 1
    assert done.removed["clickhouse"] == {
        "events": 3,
        "agent_sessions": 1,
        "evaluations": 1,
    }
    expected = {"evaluation_jobs": 1, "conversations": 1, "findings": 1}
    if by_person:
        expected["incident_comments"] = 1
    assert {k: v for k, v in done.removed["postgres"].items() if v} == expected
    assert done.removed["redis"] == {"dead_letters": 1, "bad_lines": 1}
    assert preview["sessions"] == 1
    assert preview["remaining"] == done.remaining
    for place, counts in done.removed.items():
        assert Counter(preview["removed"][place]) == Counter(counts)
    assert rows_of(runtime, org, OTHERS) == kept
    assert places(runtime, other, PERSON, THEIRS) == EVERYWHERE


def rows_of(runtime: Runtime, org: Org, session_id: str) -> list[Any]:
    params = {"org_id": org.id, "session_id": session_id}
    return [
        runtime.clickhouse.rows(
            f"SELECT count() FROM {table} FINAL"
            " WHERE org_id = {org_id:String} AND session_id = {session_id:String}",
            params,
        )
        for table in in_clickhouse.TABLES
    ]


def test_a_finding_stays_without_the_words(runtime: Runtime, org: Org) -> None:
    fill(runtime, org)
    delete(runtime, org, target_of(None, "user.email", PERSON))
    with runtime.postgres.transaction() as session:
        [row] = session.execute(
            text("SELECT description, evidence FROM findings WHERE org_id = :id"), {"id": org.uuid}
        ).all()
    assert row.description == "[deleted]: timeout"
    assert row.evidence["session_ids"] == ["[deleted]", OTHERS]


def test_events_that_come_later_are_dropped_and_counted(runtime: Runtime, org: Org) -> None:
    fill(runtime, org)
    done = delete(runtime, org, target_of([THEIRS], None, None))
    send(runtime, org, *lines_of(THEIRS, PERSON, 2), *lines_of("session-three", PERSON, 2))
    drain(runtime)
    assert rows_of(runtime, org, THEIRS) == [[(0,)]] * 4
    assert rows_of(runtime, org, "session-three")[-1] == [(2,)]
    with runtime.postgres.transaction() as session:
        assert proof.dropped(session, done) == 2


def test_events_that_wait_are_deleted_too(runtime: Runtime, org: Org) -> None:
    """They are found by a person's identifier after they are stored."""
    send(runtime, org, *lines_of(THEIRS, PERSON), *lines_of(OTHERS, OTHER))
    done = delete(runtime, org, target_of(None, "user.email", PERSON))
    assert done.sessions == 1
    assert rows_of(runtime, org, THEIRS) == [[(0,)]] * 4
    assert rows_of(runtime, org, OTHERS)[-1] == [(3,)]
    assert places(runtime, org, PERSON, THEIRS) == set()


def test_a_block_that_was_being_stored_does_not_bring_events_back(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker holds a block while the deletion begins: the fence waits until it is stored."""
    fill(runtime, org)
    inserting, go_on = threading.Event(), threading.Event()
    real = store.insert

    def slow(*args: Any) -> None:
        inserting.set()
        assert go_on.wait(60)
        real(*args)

    send(runtime, org, event(THEIRS, "11:00:00", late=True))
    monkeypatch.setattr(store, "insert", slow)
    worker = threading.Thread(target=drain, args=(runtime,))
    worker.start()
    assert inserting.wait(60)
    made = request(runtime, org, target_of([THEIRS], None, None))
    deleting = threading.Thread(target=run, args=(runtime, org))
    deleting.start()
    assert read(runtime, made).fenced_at is None
    go_on.set()
    worker.join(60)
    deleting.join(60)
    monkeypatch.undo()
    wait_until(lambda: turn(runtime, org, made) in ("rewritten", "done"))
    assert rows_of(runtime, org, THEIRS) == [[(0,)]] * 4


class Killed(Exception):
    """Ends a deletion at one of its steps."""


@pytest.mark.parametrize("step", ["hide", "_clean_redis", "rewrite", "is_off_the_disk"])
def test_a_killed_deletion_goes_on(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    fill(runtime, org)
    owner = running._Step if step.startswith("_") else in_clickhouse
    real = getattr(owner, step)
    killed: list[str] = []

    def kill(*args: Any) -> Any:
        if not killed:
            real(*args)
            killed.append(step)
            raise Killed
        return real(*args)

    monkeypatch.setattr(owner, step, kill)
    done = delete(runtime, org, target_of(None, "user.email", PERSON))
    assert killed
    assert done.removed["clickhouse"] == {
        "events": 3,
        "agent_sessions": 1,
        "evaluations": 1,
    }
    assert places(runtime, org, PERSON, THEIRS) == {"saved_queries", "audit_log"}


def test_rows_leave_the_disk_and_the_state_says_when(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(runtime, org)
    made = request(runtime, org, target_of([THEIRS], None, None))
    wait_until(lambda: turn(runtime, org, made) == "rewritten")
    # The server keeps replaced files for minutes, and the deletion is not done before they go.
    assert not in_clickhouse.is_off_the_disk(runtime.clickhouse, now())
    assert in_clickhouse.is_off_the_disk(runtime.clickhouse, now() - timedelta(days=1))
    assert turn(runtime, org, made) == "rewritten"
    monkeypatch.setattr(in_clickhouse, "is_off_the_disk", lambda *_: True)
    assert turn(runtime, org, made) == "done"
    done = read(runtime, made)
    assert done.hidden_at is not None
    assert done.rewritten_at is not None
    assert done.finished_at is not None
    assert done.hidden_at <= done.rewritten_at <= done.finished_at
    assert turn(runtime, org, made) == "done"


def test_words_are_found_as_whole_words_and_short_ones_as_values() -> None:
    mentions = Mentions(["alice@example.org", "s-1", "12345678"])
    assert mentions.replaced("to malice@example.org, alice@example.org.") == (
        "to malice@example.org, [deleted]."
    )
    assert mentions.replaced("s-1 and s-12") == "s-1 and s-12"
    found = mentions.replaced_in({"ids": ["s-1", "s-12"], "n": 12345678, "alice@example.org": 1})
    assert found == {"ids": ["[deleted]", "s-12"], "n": "[deleted]", "[deleted]": 1}


@pytest.mark.parametrize(
    ("payload", "is_named"),
    [
        ({"user": {"email": "a@b.c"}}, True),
        ({"user.email": "a@b.c"}, True),
        ({"user": {"email": "A@b.c"}}, False),
        ({"user": {"email": ["a@b.c"]}}, False),
        ({"email": "a@b.c"}, False),
        ({"user": "a@b.c"}, False),
        ({}, False),
    ],
)
def test_sql_and_python_agree_about_names(
    runtime: Runtime, org: Org, payload: dict[str, Any], is_named: bool
) -> None:
    line = event("session-one", "10:00:00", **payload)
    send(runtime, org, line)
    drain(runtime)
    with runtime.postgres.transaction() as session:
        hashing = deleted.hashing_of(session, org.uuid)
    found = in_clickhouse.sessions_naming(
        runtime.clickhouse, hashing, "user.email", hashing.of("a@b.c").hex(), 10
    )
    assert (found == ["session-one"], names(line, "user.email", "a@b.c")) == (is_named, is_named)


@pytest.mark.parametrize("has_salt", [True, False])
def test_an_imported_organization_knows_its_deletions(
    runtime: Runtime, org: Org, tmp_path: Path, *, has_salt: bool
) -> None:
    if not has_salt:
        with runtime.postgres.transaction() as session:
            earlier = text("UPDATE organizations SET deletion_salt = NULL WHERE id = :id")
            session.execute(earlier, {"id": org.uuid})
    fill(runtime, org)
    delete(runtime, org, DeletionTarget(session_ids=(THEIRS,)))
    with runtime.postgres.transaction() as session:
        service.request(
            session, runtime.queue, org.uuid, DeletionTarget((), "user.email", OTHER), "t"
        )
        organization = lifecycle.require(session, org.slug)
    place = open_objects(str(tmp_path / "export"))
    create(runtime, place, print, organization)
    slug = f"{org.slug}-copy"
    copy = Org(import_organization(runtime, place, print, slug).new_id, slug)
    assert sessions_of(runtime, copy) == {OTHERS}

    with runtime.postgres.transaction() as session:
        rows = {one.state: one for one in service.list_(session, copy.uuid, limit=9, offset=0)}
        [waits] = [one.id for state, one in rows.items() if state == "queued"]
        [before] = [one for state, one in rows.items() if state != "queued"]
        hashing = deleted.hashing_of(session, copy.uuid)
        statements = [one.sql for one in proof.proofs_of(session, before)]
    # The session comes again, and is dropped.
    send(runtime, copy, *lines_of(THEIRS, PERSON))
    drain(runtime)
    assert sessions_of(runtime, copy) == {OTHERS}
    # The statement that proves it would find the session.
    assert any(hashing.of(THEIRS).hex() in one and hashing.salt in one for one in statements)
    # The deletion that was under way is carried out.
    wait_until(lambda: turn(runtime, copy, waits) in ("rewritten", "done", "failed"))
    assert read(runtime, waits).state != "failed"
    assert sessions_of(runtime, copy) == set()
    assert sessions_of(runtime, org) == {OTHERS}


def sessions_of(runtime: Runtime, org: Org) -> set[str]:
    rows = runtime.clickhouse.rows(
        "SELECT DISTINCT session_id FROM events WHERE org_id = {org_id:String}", {"org_id": org.id}
    )
    return {str(session_id) for (session_id,) in rows}
