"""Records that are no events yet are a part of the backlog, of lags, of windows and of purges."""

from datetime import UTC, datetime

from shared.foundation.queue.waiting import SETTLE, orgs_with_events, stored_until_each
from shared.intake.ingest import backlog
from shared.intake.otlp import stream
from shared.intake.otlp.assignment import waiting
from shared.upkeep.purge import in_redis
from tests.support.assignment_desk import ROOT, WAIT_MS, Desk, model_call, of
from tests.support.processes import wait_until

CHILD = model_call(2, ROOT.span_id)


def first_receipt(desk: Desk) -> datetime:
    [(org_id, shard)] = stream.active(desk.runtime.redis)
    [entry] = stream.read(desk.runtime.redis, org_id, shard, 1)
    return datetime.fromtimestamp(int(entry.entry_id.partition(b"-")[0]) / 1000, UTC)


def stored_until(desk: Desk) -> datetime:
    return stored_until_each(desk.runtime.redis, [desk.org.id])[0] + SETTLE


def test_windows_end_before_a_record_until_its_event_is_stored(desk: Desk) -> None:
    desk.send(of(CHILD))
    received = first_receipt(desk)
    assert stored_until(desk) == received, "in its stream"
    desk.assign()
    assert stream.active(desk.runtime.redis) == []
    assert stored_until(desk) == received, "waiting"
    desk.pass_time(WAIT_MS)
    assert waiting.next_moment(desk.runtime.redis) is None
    assert stored_until(desk) == received, "in the stream of events, where it came later"
    desk.store()
    assert stored_until(desk) > received


def test_records_count_until_they_are_stored(desk: Desk) -> None:
    client = desk.runtime.redis
    desk.send(of(CHILD))
    assert backlog.measure(client)[desk.org.id] > 0
    wait_until(lambda: backlog.lag_secs(client) > 0)
    desk.assign()
    assert backlog.measure(client)[desk.org.id] > 0
    assert backlog.lag_secs(client) == 0, "what waits for others is not late"
    desk.finish()
    assert backlog.measure(client) == {}


def test_a_purge_removes_records_wherever_they_are(desk: Desk) -> None:
    client = desk.runtime.redis
    desk.send(of(CHILD))
    desk.assign()
    desk.send(of(ROOT))
    desk.assign()
    for trace in (3, 4):
        child = of(CHILD)
        child.spans[0].trace_id = f"{trace:032x}"
        desk.send(child)
        if trace == 3:
            desk.assign()
    assert in_redis.remove(client, desk.org.id)["waiting_records"] == 2
    assert [key for key in client.scan_iter() if desk.org.id.encode() in key] == []
    assert stream.active(client) == []
    assert waiting.next_moment(client) is None
    assert orgs_with_events(client) == []
