"""The request to an evaluator, byte for byte."""

import json

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.reading.sessions import event_stream
from shared.reading.sessions.evaluation_request import EvaluationRequestTooLarge, build
from shared.reading.sessions.facts import find
from tests.support.events import event, store_events

ODD_LINE = (
    b'{ "session_id":"s",\t"timestamp":"2026-11-02T10:00:00+00:00","type":"x","n":1.50, '
    b'"big":1e400,"id":12345678901234567890,"twice":1,"twice":2,'
    b'"text":"\\u00fc \xc3\xbc \xe2\x80\xa8"}'
)
SPREAD_LINE = (
    b'{\n  "session_id": "s",\r\n  "timestamp": "2026-11-02T10:00:00.000001Z",\n  "type": "y\\n",'
    b'\n  "text": "a\\nb"\n}'
)


def test_payloads_are_embedded_as_they_were_stored(clickhouse: ClickHouse, org_id: str) -> None:
    first, second = store_events(clickhouse, org_id, [ODD_LINE, SPREAD_LINE])
    assert build(clickhouse, org_id, "s") == b"".join(
        [
            b'{"schema_version":"1","session_id":"s","agent_id":"main","environment":"default",',
            b'"started_at":"2026-11-02T10:00:00.000000Z","ended_at":null,"events":[',
            b'{"id":%d,"ts":"2026-11-02T10:00:00.000000Z",' % first.event_id,
            b'"event_type":"x","payload":' + ODD_LINE + b"},",
            b'{"id":%d,"ts":"2026-11-02T10:00:00.000001Z",' % second.event_id,
            b'"event_type":"y\\n","payload":' + SPREAD_LINE + b"}]}",
        ]
    )


def test_an_exported_line_is_one_line_and_the_same_json(
    clickhouse: ClickHouse, org_id: str
) -> None:
    store_events(clickhouse, org_id, [SPREAD_LINE])
    facts = find(clickhouse, org_id, "s")
    assert facts is not None
    (line,) = event_stream.export(clickhouse, org_id, facts)
    assert (line.count(b"\n"), line.count(b"\r")) == (1, 0)
    assert json.loads(line)["payload"] == json.loads(SPREAD_LINE)


def test_events_of_one_moment_keep_the_order_of_their_batch(
    clickhouse: ClickHouse, org_id: str
) -> None:
    lines = [event("s", "10:00:00", number=n) for n in range(30)]
    stored = store_events(clickhouse, org_id, lines)
    store_events(clickhouse, org_id, reversed(lines))
    request = json.loads(build(clickhouse, org_id, "s") or b"")
    assert [item["id"] for item in request["events"]] == [item.event_id for item in stored]


def test_an_ended_session_says_when(clickhouse: ClickHouse, org_id: str) -> None:
    name = 'a/"b"\\ü'
    store_events(
        clickhouse, org_id, [event(name, "10:00:00"), event(name, "10:00:01.25", "agent_end")]
    )
    request = json.loads(build(clickhouse, org_id, name) or b"")
    assert request["session_id"] == name
    assert request["ended_at"] == "2026-11-02T10:00:01.250000Z"


def test_a_request_may_be_as_long_as_the_limit_and_no_longer(
    clickhouse: ClickHouse, org_id: str
) -> None:
    store_events(clickhouse, org_id, [event("s", f"10:00:{n:02}") for n in range(50)])
    whole = build(clickhouse, org_id, "s")
    assert whole is not None
    assert build(clickhouse, org_id, "s", max_bytes=len(whole)) == whole
    with pytest.raises(EvaluationRequestTooLarge):
        build(clickhouse, org_id, "s", max_bytes=len(whole) - 1)
    # The aborted read left no half-read connection behind.
    assert build(clickhouse, org_id, "s") == whole


def test_an_unknown_session_has_no_request(clickhouse: ClickHouse, org_id: str) -> None:
    assert build(clickhouse, org_id, "s") is None
