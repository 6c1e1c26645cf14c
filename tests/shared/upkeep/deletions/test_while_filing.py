"""Work that read a session before its deletion, and writes meanwhile, brings nothing of it back.

It holds the organization, and asks afterwards which sessions were deleted. The fence of a deletion
waits for those that hold, so it comes wholly before the work or wholly after it.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Self

import pytest
from sqlalchemy import event, text
from sqlalchemy.engine import Engine

from shared.evaluation.evaluation_jobs.result import JobResult
from shared.evaluation.evaluation_jobs.storing import OF_DEFAULT, store_results
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from shared.reading.sessions import deleted
from shared.upkeep.deletions import in_clickhouse
from shared.upkeep.deletions.target import DeletionTarget
from shared.watch.incidents.opening import Breach
from tests.support.deletions import read, request, run, turn
from tests.support.findings import Audited, candidate
from tests.support.incidents import add_alert, breach, opening_of
from tests.support.jobs import insert_job
from tests.support.places import places
from tests.support.processes import wait_until
from tests.support.runtime import Org

KEPT, GONE = "session-that-stays", "session-that-goes"
Work = Callable[[], object]


class Gate:
    """A point at which a thread waits for the test. The end of the block opens it."""

    def __init__(self) -> None:
        self.reached, self._opened = threading.Event(), threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.open()

    def wait(self) -> None:
        self.reached.set()
        assert self._opened.wait(60)

    def open(self) -> None:
        self._opened.set()


def results(runtime: Runtime, org: Org) -> Work:
    """Returns the storing of results of both sessions."""
    packed = JobResult(status="done", scores={"s": 1.0}).packed()
    with runtime.postgres.transaction() as session:
        for one in (KEPT, GONE):
            insert_job(session, org, one)
        done = text(
            "UPDATE evaluation_jobs SET status = 'storing', result = :result, completed_at = now()"
            " WHERE org_id = :org_id"
        )
        session.execute(done, {"result": packed, "org_id": org.uuid})
    return lambda: store_results(runtime.postgres, runtime.clickhouse, OF_DEFAULT)


def findings(runtime: Runtime, org: Org) -> Work:
    """Returns the filing of two findings, one of which cites both sessions."""
    audited = Audited(runtime, org)
    both, one = candidate("a", session_ids=(KEPT, GONE)), candidate("b", session_ids=(KEPT,))
    made = audited.run()
    return lambda: audited.file(both, one, run=made)


def incidents(runtime: Runtime, org: Org) -> Work:
    """Returns the opening of an incident whose evidence names both sessions."""
    evidence = {"session_ids": [KEPT, GONE], "rows": [[GONE, 1]], "value": 2}
    opening = replace(opening_of(add_alert(runtime, org)), breach=Breach(2, "two", evidence))
    return lambda: breach(runtime, opening)


in_each_place = pytest.mark.parametrize(
    ("prepare", "table"),
    [(results, "evaluations"), (findings, "findings"), (incidents, "incidents")],
)


@pytest.fixture
def writing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The gate at which results, findings and incidents wait before they are written."""
    gate, insert = Gate(), store.insert

    def insert_later(*args: Any) -> None:
        gate.wait()
        insert(*args)

    def look(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith(("INSERT INTO findings ", "INSERT INTO incidents ")):
            gate.wait()

    monkeypatch.setattr(store, "insert", insert_later)
    # Files that were replaced stay on the disk for minutes.
    monkeypatch.setattr(in_clickhouse, "is_off_the_disk", lambda *_: True)
    event.listen(Engine, "before_cursor_execute", look)
    yield gate
    event.remove(Engine, "before_cursor_execute", look)


def waits(runtime: Runtime) -> bool:
    """Returns whether a transaction waits for another one."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with runtime.postgres.transaction() as session:
        return bool(session.scalar(text(query)))


@in_each_place
def test_a_deletion_waits_for_what_is_written(
    runtime: Runtime,
    org: Org,
    writing: Gate,
    prepare: Callable[[Runtime, Org], Work],
    table: str,
) -> None:
    """So it finds and removes what the work wrote of the session."""
    work = prepare(runtime, org)
    with ThreadPoolExecutor(2) as pool, writing:
        worker = pool.submit(work)
        wait_until(lambda: writing.reached.is_set() or worker.done())
        made = request(runtime, org, DeletionTarget(session_ids=(GONE,)))
        deletion = pool.submit(run, runtime, org)
        wait_until(lambda: waits(runtime) or deletion.done())
        assert read(runtime, made).fenced_at is None
        writing.open()
        worker.result()
        deletion.result()
    wait_until(lambda: turn(runtime, org, made) in ("done", "failed"))
    assert read(runtime, made).state == "done"
    assert places(runtime, org, GONE) == set()
    assert table in places(runtime, org, KEPT)


@in_each_place
def test_what_waits_for_a_deletion_leaves_the_session_out(
    runtime: Runtime,
    org: Org,
    writing: Gate,
    monkeypatch: pytest.MonkeyPatch,
    prepare: Callable[[Runtime, Org], Work],
    table: str,
) -> None:
    """It writes when the deletion is done, which removes nothing any more."""
    work = prepare(runtime, org)
    fencing, add = Gate(), deleted.add

    def add_slowly(*args: Any) -> None:
        add(*args)
        fencing.wait()

    monkeypatch.setattr(deleted, "add", add_slowly)
    made = request(runtime, org, DeletionTarget(session_ids=(GONE,)))
    with ThreadPoolExecutor(2) as pool, writing, fencing:
        deletion = pool.submit(run, runtime, org)
        assert fencing.reached.wait(60)
        worker = pool.submit(work)
        wait_until(lambda: waits(runtime) or writing.reached.is_set())
        assert not writing.reached.is_set()
        fencing.open()
        deletion.result()
        wait_until(lambda: turn(runtime, org, made) in ("done", "failed"))
        wait_until(lambda: writing.reached.is_set() or worker.done())
        writing.open()
        worker.result()
    assert read(runtime, made).state == "done"
    assert places(runtime, org, GONE) == set()
    assert table in places(runtime, org, KEPT)
