"""Receipts tell what became of the records of a request, for each service."""

from typing import Any

import msgspec
from sqlalchemy import select

from shared.intake.otlp.records import Records
from shared.intake.receipts.flushing import flush
from shared.intake.receipts.models import ReceiptRow
from shared.intake.receipts.origin import Origin
from tests.support.assignment_desk import ROOT, WAIT_MS, Desk, model_call, of
from tests.support.records import make_log, make_records

ORIGIN = Origin("otlp_http", "", "a sender").base
OTHER = msgspec.structs.replace(
    ROOT, trace_id="0e" * 16, attributes={"http.method": "GET", "odd.1.key": 1}
)


def brought(records: Records) -> Records:
    records.origin = ORIGIN
    return records


def tally(desk: Desk) -> dict[str, int]:
    """The counts of `service-0`, without lags."""
    flush(desk.runtime.postgres, desk.runtime.redis, desk.org.id)
    with desk.runtime.postgres.transaction() as session:
        query = select(ReceiptRow).where(ReceiptRow.org_id == desk.org.uuid)
        [row] = session.scalars(query)
        assert (row.source, row.sender, row.service) == ("otlp_http", "a sender", "service-0")
        return {name: n for name, n in row.tally.items() if n and "lag" not in name}


def lags(desk: Desk) -> Any:
    with desk.runtime.postgres.transaction() as session:
        query = select(ReceiptRow.tally).where(ReceiptRow.org_id == desk.org.uuid)
        return [n for name, n in session.scalars(query).one().items() if name.startswith("lag.")]


def test_events_calls_content_and_unknown_attributes_are_counted(desk: Desk) -> None:
    content = {"gen_ai.input.messages": '[{"role": "user", "parts": []}]', "odd.7.key": 1}
    calls = [model_call(2, ROOT.span_id), model_call(3, ROOT.span_id, **content)]
    desk.send(brought(of(ROOT, *calls)))
    desk.finish()
    assert tally(desk) == {
        "events": 6, "model_calls": 2, "model_contents": 1, "unmapped:odd.N.key": 1,
    }  # fmt: skip
    assert lags(desk) == [1]


def test_copies_are_not_counted_again(desk: Desk) -> None:
    for _ in range(2):
        desk.send(brought(of(ROOT)))
        desk.finish()
    assert tally(desk) == {"events": 2}


def test_what_is_taken_and_not_stored_is_counted_with_its_reason(desk: Desk) -> None:
    desk.send(brought(of(OTHER)), brought(make_records(logs=[make_log("of nothing")])))
    desk.finish()
    assert tally(desk) == {
        "not_stored": 2,
        "reason:span of another kind (otel.other_spans)": 1,
        "reason:log record of no trace and no session": 1,
    }


def test_a_later_other_name_is_counted_once_a_trace(desk: Desk) -> None:
    desk.send(brought(of(model_call(2, ROOT.span_id))))
    desk.assign()
    desk.pass_time(WAIT_MS)
    for number in (3, 4):
        late = model_call(number, ROOT.span_id, **{"session.id": f"late {number}"})
        desk.send(brought(of(late)))
        desk.finish()
    assert tally(desk) == {"events": 6, "model_calls": 3, "session_conflicts": 1}
