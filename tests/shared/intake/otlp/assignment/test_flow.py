"""Records wait in Redis until they can be assigned, whatever happens to assigners meanwhile."""

import json
from typing import Any

import msgspec
import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.jobs import ASSIGN_RECORDS
from shared.foundation.queue.waiting import SHARDS, orgs_with_events
from shared.foundation.queue.wakeups import MOMENTS
from shared.intake.ingest import dead_letters
from shared.intake.otlp import stream
from shared.intake.otlp.assignment import assigner, intake, lease, output, state, turn, waiting
from shared.intake.otlp.assignment.assign import PARENT_WAIT_MS
from shared.intake.otlp.assignment.intake import read
from shared.intake.otlp.assignment.lease import Lease
from shared.intake.otlp.assignment.turn import take_turn
from shared.intake.otlp.mapping import span_events
from shared.intake.otlp.records import Span
from tests.support.assignment_desk import ROOT, WAIT_MS, Desk, model_call, of
from tests.support.runtime import make_org


def test_a_child_waits_in_redis_until_its_root_names_the_session(desk: Desk) -> None:
    desk.send(of(model_call(2, ROOT.span_id)))
    desk.assign()
    desk.pass_time(WAIT_MS - 2000)
    assert stream.active(desk.runtime.redis) == []
    assert not orgs_with_events(desk.runtime.redis)
    desk.send(of(ROOT))
    desk.finish()
    assert desk.sessions() == {"turns"}


def test_after_the_wait_the_trace_id_is_the_session_and_stays_it(desk: Desk) -> None:
    desk.send(of(model_call(2, ROOT.span_id)))
    desk.assign()
    desk.pass_time(WAIT_MS)
    desk.send(of(ROOT))
    desk.finish()
    assert desk.sessions() == {ROOT.trace_id}
    key = state.trace_key(desk.org.id, ROOT.trace_id)
    assert desk.runtime.redis.hget(key, "c") == b"1", "the later name is noticed"


def test_the_wait_for_a_session_is_a_setting(desk: Desk) -> None:
    desk.choose("otel.session_wait_secs", 0)
    desk.send(of(model_call(2, ROOT.span_id)))
    desk.assign()
    assert waiting.next_moment(desk.runtime.redis) is not None, "waits for its parent only"
    desk.pass_time(PARENT_WAIT_MS)
    desk.store()
    assert desk.sessions() == {ROOT.trace_id}


def test_the_clock_wakes_an_assigner_when_the_wait_is_over(desk: Desk) -> None:
    desk.runtime.redis.delete(MOMENTS)
    desk.send(of(model_call(2, ROOT.span_id)))
    before = assigner.now_ms(desk.runtime.redis)
    desk.assign()
    moment = desk.runtime.redis.zscore(MOMENTS, ASSIGN_RECORDS.actor)
    assert moment is not None
    assert before < moment <= assigner.now_ms(desk.runtime.redis) + WAIT_MS


def test_redacted_keys_are_removed_before_events_are_written(desk: Desk) -> None:
    desk.choose("redaction.payload_keys", ["goal"])
    desk.send(of(ROOT))
    [start, _] = desk.finish()
    assert json.loads(str(start[5]))["goal"] == "[redacted]"


def test_a_record_with_a_defect_costs_no_other_record(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = span_events

    def fail(org_id: str, span: Span, *rest: Any) -> Any:
        if span.span_id == model_call(3).span_id:
            raise ZeroDivisionError
        return real(org_id, span, *rest)

    monkeypatch.setattr(output, "span_events", fail)
    desk.send(of(ROOT, *(model_call(n, ROOT.span_id) for n in (2, 3, 4))))
    desk.assign()
    assert dead_letters.count(desk.runtime.redis) == 1
    desk.store()
    assert len(desk.events()) == 6


def test_an_entry_that_is_no_records_is_set_aside(desk: Desk) -> None:
    with desk.runtime.redis.pipeline() as pipe:
        stream.add(pipe, desk.org.id, desk.org.slug, 0, b"\0garbage", "")
        pipe.execute()
    desk.assign()
    assert dead_letters.count(desk.runtime.redis) == 1
    assert stream.active(desk.runtime.redis) == []


def test_an_assigner_that_lost_its_lease_writes_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = read

    def slow(client: Any, held: Lease, shards: Any, now_ms: int) -> Any:
        found = real(client, held, shards, now_ms)
        for shard in held.shards:
            client.set(lease.lease_key(held.org_id, shard), b"another assigner")
        return found

    monkeypatch.setattr(turn, "read", slow)
    monkeypatch.setattr(assigner, "RUN_SECS", 0.0)
    desk.send(of(ROOT))
    desk.assign()
    assert not orgs_with_events(desk.runtime.redis)
    for shard in range(SHARDS):
        desk.runtime.redis.delete(lease.lease_key(desk.org.id, shard))
    monkeypatch.setattr(turn, "read", real)
    assert len(desk.finish()) == 2


def test_organizations_take_turns(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "READ_BYTES", 1)
    other = make_org(desk.runtime)
    for number in range(40):
        desk.send(of(model_call(number + 2, session__id="s")))
    stream.append(desk.runtime.redis, other.id, other.slug, of(ROOT))
    served: list[str] = []
    real = take_turn

    def note(runtime: Runtime, held: Lease, *rest: Any) -> Any:
        served.append(held.org_id)
        return real(runtime, held, *rest)

    monkeypatch.setattr(assigner, "take_turn", note)
    desk.assign()
    assert other.id in served[:2]
    assert served.count(desk.org.id) > 2


def test_assigners_share_the_shards_of_an_organization(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "READ_RECORDS", 3)
    client = desk.runtime.redis
    spans = [msgspec.structs.replace(ROOT, trace_id=f"{number + 1:032x}") for number in range(40)]
    for span in spans:
        desk.send(of(msgspec.structs.replace(span)))
    first, second = Lease(client, desk.org.id), Lease(client, desk.org.id)
    found = [read(client, held, range(SHARDS), assigner.now_ms(client)) for held in (first, second)]
    assert (first.shards, second.shards) == ([0], [1])
    assert [(one.records, one.is_full) for one in found] == [(3, True), (3, True)]
    first.release()
    second.release()
    assert len(desk.finish()) == 2 * len(spans)


def test_a_decision_lives_for_a_day_after_its_last_use(desk: Desk) -> None:
    key = state.trace_key(desk.org.id, ROOT.trace_id)
    desk.send(of(ROOT))
    desk.assign()
    desk.runtime.redis.pexpire(key, state.TRACE_TTL_MS - 1000)
    desk.send(of(model_call(2, ROOT.span_id)))
    desk.assign()
    assert desk.runtime.redis.pttl(key) > state.TRACE_TTL_MS
