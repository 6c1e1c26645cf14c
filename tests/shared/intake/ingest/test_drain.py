"""From an accepted body to stored rows: nothing lost, nothing doubled, despite failures."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, select
from structlog.testing import capture_logs

from devstack import DevStack
from shared.evaluation.evaluation_jobs.models import WatchedSession
from shared.foundation.core.clock import format_ts
from shared.foundation.core.errors import Unavailable
from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import request_context
from shared.foundation.core.metrics.catalogue import UNPRICED
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.waiting import event_stream, orgs_with_events
from shared.intake.ingest import backlog, dead_letters, stream
from shared.intake.ingest import drain as module
from shared.intake.ingest.accept import Ingest
from shared.intake.ingest.decode import decode_events
from shared.intake.ingest.drain import KEEPS_UP_KEY, PAUSE_KEY, READ_ENTRIES, Drain
from shared.intake.ingest.persist import persist as real_persist
from shared.intake.ingest.rules import IngestRules, IngestRulesCache
from shared.intake.ingest.sender import Sender
from shared.intake.ingest.stream import StreamEntry
from tests.support.airline import Airline
from tests.support.runtime import Org, connected, make_org, settings_for


@pytest.fixture(scope="module")
def ingest_runtime(migrated_stack: DevStack) -> Iterator[Runtime]:
    """A runtime that takes over another consumer's batches after a moment instead of 15 s."""
    with connected(settings_for(migrated_stack.urls, ingest_claim_idle_secs=0.05)) as made:
        yield made


@pytest.fixture
def runtime(ingest_runtime: Runtime) -> Runtime:
    ingest_runtime.redis.flushdb()
    return ingest_runtime


def lines_of(count: int, session_id: str = "s", **fields: object) -> list[bytes]:
    moment = datetime(2026, 11, 1, 8, tzinfo=UTC)
    return [
        json.dumps(
            {
                "session_id": session_id,
                "timestamp": format_ts(moment + timedelta(seconds=number)),
                "type": "note",
                "n": number,
                **fields,
            }
        ).encode()
        for number in range(count)
    ]


def accept(runtime: Runtime, org: Org, lines: list[bytes]) -> None:
    decoded = Ingest(runtime).accept(
        Sender(org.id, org.slug),
        body=b"\n".join(lines),
        media_type="application/x-ndjson",
        encoding="",
    )
    assert decoded.skipped == 0


def drain(runtime: Runtime, consumer: str = "c1") -> int:
    return Drain(runtime, consumer, IngestRulesCache(runtime)).run()


def stored(runtime: Runtime, org: Org) -> list[str]:
    rows = runtime.clickhouse.rows(
        "SELECT payload FROM events FINAL WHERE org_id = {org_id:String} ORDER BY ts, arrival, id",
        {"org_id": org.id},
    )
    return [payload for (payload,) in rows]


def text(lines: list[bytes]) -> list[str]:
    return [line.decode() for line in lines]


def test_accepted_events_are_stored_and_leave_redis(runtime: Runtime, org: Org) -> None:
    lines = lines_of(1000)
    accept(runtime, org, lines)
    assert backlog.measure(runtime.redis)[org.id] > 0
    assert drain(runtime) == 1000
    assert stored(runtime, org) == text(lines)
    assert backlog.measure(runtime.redis) == {}
    assert orgs_with_events(runtime.redis) == []
    assert backlog.lag_secs(runtime.redis) == 0.0


def test_a_field_that_no_event_of_a_block_has_is_null(runtime: Runtime, org: Org) -> None:
    accept(runtime, org, lines_of(2, tool_name="search"))
    drain(runtime)
    rows = runtime.clickhouse.rows(
        "SELECT tool_name, tool_call_id, duration_ms, context_fill FROM events FINAL"
        " WHERE org_id = {org_id:String}",
        {"org_id": org.id},
    )
    assert rows == [("search", None, None, None)] * 2


def test_stored_calls_without_a_cost_are_counted_by_their_reason(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: Counter[str] = Counter()
    monkeypatch.setattr(UNPRICED, "add", lambda calls, reason: counted.update({reason: calls}))
    call = partial(lines_of, type="model_response", input_tokens=10)
    accept(runtime, org, call(2, model="model-without-price"))
    accept(runtime, org, [*call(3), *lines_of(4)])
    drain(runtime)
    assert counted == {"no_price": 2, "no_model": 3}


def test_the_same_batch_twice_is_stored_once_in_its_first_order(runtime: Runtime, org: Org) -> None:
    moment = format_ts(datetime(2026, 11, 1, tzinfo=UTC))
    lines = lines_of(50, timestamp=moment)
    accept(runtime, org, lines)
    drain(runtime)
    accept(runtime, org, lines[::-1])
    drain(runtime)
    assert stored(runtime, org) == text(lines)


def test_an_insert_is_logged_with_the_requests_that_brought_it(runtime: Runtime, org: Org) -> None:
    caused = [new_request_id() for _ in range(2)]
    for number, request_id in enumerate(caused):
        with request_context(request_id):
            accept(runtime, org, lines_of(1, f"s{number}"))
    with capture_logs() as logged:
        drain(runtime)
    [line] = [line for line in logged if line["event"] == "events_stored"]
    assert line["request_ids"] == caused


def test_a_large_body_becomes_several_entries_in_order(runtime: Runtime, org: Org) -> None:
    lines = lines_of(40, filler="x" * 100_000)
    accept(runtime, org, lines)
    assert runtime.redis.xlen(event_stream(org.id)) > 1
    assert drain(runtime) == 40
    assert stored(runtime, org) == text(lines)


def test_two_hundred_months_in_one_batch(runtime: Runtime, org: Org) -> None:
    months = [
        format_ts(datetime(2005 + index // 12, index % 12 + 1, 3, tzinfo=UTC))
        for index in range(200)
    ]
    lines = [
        json.dumps({"session_id": "s", "timestamp": moment, "type": "note"}).encode()
        for moment in months
    ]
    accept(runtime, org, lines)
    assert drain(runtime) == 200
    assert stored(runtime, org) == text(lines)


def test_organizations_are_drained_in_turn(runtime: Runtime) -> None:
    loud, quiet = make_org(runtime), make_org(runtime)
    for number in range(100):
        accept(runtime, loud, lines_of(2, session_id=f"s{number}"))
    accept(runtime, quiet, lines_of(2))
    entries = stream.read_new(runtime.redis, "c1", orgs_with_events(runtime.redis), 16)
    assert {entry.org_id for entry in entries} == {loud.id, quiet.id}


def test_more_organizations_than_one_read_takes(runtime: Runtime) -> None:
    orgs = [make_org(runtime) for _ in range(70)]
    for org in orgs:
        accept(runtime, org, lines_of(1))
    # Another consumer holds the first batches. They must not hide the rest.
    stream.read_new(runtime.redis, "other", sorted(org.id for org in orgs)[:40], 10)
    settings = msgspec.structs.replace(runtime.settings, ingest_claim_idle_secs=3600)
    assert drain(replace(runtime, settings=settings)) == 30
    _wait_idle()
    assert drain(runtime) == 40
    assert all(len(stored(runtime, org)) == 1 for org in orgs)


def test_all_that_was_left_behind_is_taken_over_in_one_drain(runtime: Runtime, org: Org) -> None:
    for number in range(READ_ENTRIES * 3):
        accept(runtime, org, lines_of(1, session_id=f"s{number}"))
    stream.read_new(runtime.redis, "killed", [org.id], 1000)
    _wait_idle()
    assert drain(runtime) == READ_ENTRIES * 3


def test_entries_that_can_be_claimed_again_at_once_are_taken_once(
    runtime: Runtime, org: Org
) -> None:
    for number in range(3):
        accept(runtime, org, lines_of(1, session_id=f"s{number}"))
    stream.read_new(runtime.redis, "killed", [org.id], 1000)
    settings = msgspec.structs.replace(runtime.settings, ingest_claim_idle_secs=0.0001)
    assert drain(replace(runtime, settings=settings)) == 3


def test_an_event_that_we_stumble_over_is_set_aside(runtime: Runtime, org: Org) -> None:
    def stumble(model: str) -> int | None:
        if model == "odd":
            raise ZeroDivisionError
        return None

    lines = lines_of(9, type="model_response", model="even")
    lines[4] = lines[4].replace(b"even", b"odd")
    accept(runtime, org, lines)
    assert Drain(runtime, "c1", lambda _org_ids: {org.id: IngestRules(stumble)}).run() == 9
    assert stored(runtime, org) == text(lines[:4] + lines[5:])
    [letter] = list(dead_letters.letters(runtime.redis, org.slug))
    assert letter.reason.startswith("ZeroDivisionError")


def test_sessions_are_watched_as_their_entries_say(runtime: Runtime, org: Org) -> None:
    for session_id, idle_only in (("turns", True), ("plain", False)):
        batch = decode_events(lines_of(2, session_id), org.id, 10_000).batch
        with runtime.redis.pipeline() as pipe:
            stream.add(pipe, org.id, org.slug, batch, idle_only=idle_only)
            pipe.execute()
    settings = msgspec.structs.replace(runtime.settings, evaluator_endpoint="http://127.0.0.1:1")
    assert drain(replace(runtime, settings=settings)) == 4
    with runtime.postgres.transaction() as session:
        query = select(WatchedSession.session_id, WatchedSession.idle_only)
        rows = session.execute(query.where(WatchedSession.org_id == org.uuid)).all()
        session.execute(delete(WatchedSession).where(WatchedSession.org_id == org.uuid))
    assert {row.session_id: row.idle_only for row in rows} == {"turns": True, "plain": False}


def test_entries_of_a_dead_consumer_are_taken_over(runtime: Runtime, org: Org) -> None:
    accept(runtime, org, lines_of(10))
    assert stream.read_new(runtime.redis, "killed", [org.id], 10)
    assert drain(runtime, "survivor") in (0, 10)
    runtime.redis.connection_pool.disconnect()
    _wait_idle()
    drain(runtime, "survivor")
    assert len(stored(runtime, org)) == 10
    assert backlog.measure(runtime.redis) == {}


def test_a_store_that_is_down_costs_nothing(
    runtime: Runtime, org: Org, stack: DevStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_MS", 60_000)
    accept(runtime, org, lines_of(10))
    stack.clickhouse.kill()
    try:
        with pytest.raises(Unavailable):
            drain(runtime)
        assert runtime.redis.exists(PAUSE_KEY)
        assert drain(runtime) == 0, "a paused drain leaves the stream alone"
    finally:
        stack.clickhouse.start()
        stack.clickhouse.wait_ready()
    runtime.redis.delete(PAUSE_KEY)
    _wait_idle()
    drain(runtime)
    assert len(stored(runtime, org)) == 10


def test_a_refused_event_is_set_aside_and_its_neighbours_are_stored(
    runtime: Runtime, org: Org
) -> None:
    constraint = f"odd_{org.slug}"
    runtime.clickhouse.execute(
        f"ALTER TABLE events ADD CONSTRAINT {constraint} CHECK NOT"
        f" (org_id = '{org.id}' AND payload LIKE '%\"n\": 7,%' OR payload LIKE '%\"n\": 7}}%')"
    )
    lines = lines_of(20)
    try:
        accept(runtime, org, lines)
        drain(runtime)
    finally:
        runtime.clickhouse.execute(f"ALTER TABLE events DROP CONSTRAINT {constraint}")
    assert stored(runtime, org) == text(lines[:7] + lines[8:])
    [letter] = list(dead_letters.letters(runtime.redis, org.slug))
    assert letter.batch is not None
    assert letter.batch.payloads == [lines[7]]
    assert constraint in letter.reason
    dead_letters.retry(runtime.redis, letter)
    drain(runtime)
    assert stored(runtime, org) == text(lines)
    assert dead_letters.count(runtime.redis) == 0


def test_an_entry_that_is_no_batch_is_set_aside(runtime: Runtime, org: Org) -> None:
    accept(runtime, org, lines_of(1))
    fields = {"slug": org.slug, "data": b"\x01garbage", "request_id": ""}
    runtime.redis.xadd(event_stream(org.id), fields)  # type: ignore[arg-type]
    drain(runtime)
    assert len(stored(runtime, org)) == 1
    [letter] = list(dead_letters.letters(runtime.redis))
    assert (letter.batch, letter.data) == (None, b"\x01garbage")


def test_a_full_backlog_refuses_with_a_time_to_come_back(
    migrated_stack: DevStack, runtime: Runtime
) -> None:
    org, other = make_org(runtime), make_org(runtime)
    settings = settings_for(migrated_stack.urls, ingest_backlog_bytes=40_000)
    with connected(settings) as bounded:
        ingest = Ingest(bounded)

        def post(to: Org) -> None:
            ingest.accept(
                Sender(to.id, to.slug),
                body=b"\n".join(lines_of(10, filler="".join(chr(33 + n % 90) for n in range(900)))),
                media_type="application/x-ndjson",
                encoding="",
            )

        def post_until_refused() -> None:
            for _ in range(100):
                post(org)

        with pytest.raises(Unavailable) as refusal:
            post_until_refused()
        assert refusal.value.retry_after_secs
        before = runtime.redis.xlen(event_stream(org.id))
        post(other)
        assert runtime.redis.xlen(event_stream(org.id)) == before
        drain(runtime)
        _wait_idle(0.3)
        post(org)


def test_the_whole_recording_goes_through(runtime: Runtime, org: Org, airline: Airline) -> None:
    lines = list(airline.lines)
    for start in range(0, len(lines), 500):
        accept(runtime, org, lines[start : start + 500])
    drain(runtime)
    assert stored(runtime, org) == text(lines)


def _wait_idle(seconds: float = 0.1) -> None:
    # Longer than INGEST_CLAIM_IDLE_SECS of these tests.
    time.sleep(seconds)


def test_a_drain_that_keeps_up_is_left_alone(runtime: Runtime, org: Org) -> None:
    lines = lines_of(3)
    accept(runtime, org, lines)
    runtime.redis.set(KEEPS_UP_KEY, b"1")
    assert drain(runtime, "c2") == 0
    assert stored(runtime, org) == []
    # As if the drain had been killed a while ago.
    runtime.redis.delete(KEEPS_UP_KEY)
    assert drain(runtime, "c2") == 3
    assert not runtime.redis.exists(KEEPS_UP_KEY)


def test_events_that_arrive_while_a_drain_ends_are_stored(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = lines_of(1, "first"), lines_of(1, "last")
    accept(runtime, org, first)
    read_new = stream.read_new
    empty_reads = 0

    def reading(*arguments: Any) -> list[StreamEntry]:
        nonlocal empty_reads
        found = read_new(*arguments)
        empty_reads += not found
        if empty_reads == 2:
            # The drain has found nothing new, and other processes see that it keeps up.
            empty_reads += 1
            accept(runtime, org, last)
            assert drain(runtime, "c2") == 0
        return found

    monkeypatch.setattr(module, "orgs_with_events", lambda _client: [org.id])
    monkeypatch.setattr(stream, "read_new", reading)
    monkeypatch.setattr(module, "GATHER_SECS", 0.0)
    monkeypatch.setattr(module, "KEEPS_UP_MS", 60_000)
    assert drain(runtime) == 2
    assert stored(runtime, org) == text([*first, *last])


def test_an_insert_gathers_what_comes_in_meanwhile(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 1000.0

    def one_comes() -> None:
        accept(runtime, org, lines_of(1, new_request_id()))

    def sleep(secs: float) -> None:
        nonlocal clock
        clock += secs + 1e-6
        one_comes()

    def persist(*arguments: Any) -> None:
        real_persist(*arguments)
        if clock == 1000.0:
            one_comes()

    monkeypatch.setattr(module, "persist", persist)
    monkeypatch.setattr(module, "GATHER_SECS", 0.3)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock, sleep=sleep))
    one_comes()
    with capture_logs() as logged:
        drain(runtime)
    inserts = [line["events"] for line in logged if line["event"] == "events_stored"]
    # One came during the first insert, and three in the 0.3 s of checks every 0.1 s.
    assert inserts == [1, 4]
