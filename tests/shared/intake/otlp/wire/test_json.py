"""Requests in JSON: what is read as other parsers read it, and what is refused."""

import json
import time
from typing import Any

import pytest

from shared.foundation.core.errors import BadRequest
from shared.intake.otlp.wire.reading import JSON, Reading
from shared.intake.otlp.wire.signals import TRACES
from tests.support.otlp import one_span, read


def read_json(document: Any) -> Reading:
    return read(TRACES, JSON, json.dumps(document).encode())


def value_in_json(value: Any) -> Any:
    """Returns what is read for the attribute `a` with this value."""
    reading = read_json(one_span(attributes=[{"key": "a", "value": value}]))
    assert reading.tally.reasons == {}
    return reading.records.spans[0].attributes["a"]


def test_json_nested_100_000_levels_deep_costs_its_record_only() -> None:
    deep = '{"arrayValue":{"values":[' * 100_000 + "]}}" * 100_000
    good = json.dumps(one_span()).replace("]}]}]}", ",%s]}]}]}")
    bad = json.dumps(one_span(attributes=[{"key": "a", "value": "deep"}]))
    bad = bad[bad.index('{"traceId"') : bad.rindex("]}]}]}")].replace('"deep"', deep)
    reading = read(TRACES, JSON, (good % bad).encode())
    assert len(reading.records.spans) == 1
    assert reading.tally.reasons == {"a value is nested deeper than 64 levels": 1}


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"resourceSpans":5}', b'{"resourceSpans":[{"scopeSpans":{}}]}']
)
def test_other_json_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        read(TRACES, JSON, body)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_json_has_no_literals_for_what_is_no_number(text: str) -> None:
    value = '{"doubleValue":1.5}'
    body = json.dumps(one_span(attributes=[{"key": "a", "value": json.loads(value)}]))
    with pytest.raises(BadRequest):
        read(TRACES, JSON, body.replace("1.5", text).encode())


def test_json_is_read_as_javascript_and_others_write_it() -> None:
    now = time.time_ns()
    span = one_span(
        traceId="0A" * 16,
        parentSpanId=None,
        startTimeUnixNano=now,
        endTimeUnixNano=str(now + 1),
        kind=2,
        somethingNew={"a": [1]},
        status={},
        events=None,
    )
    [read_span] = read_json(span).records.spans
    assert (read_span.trace_id, read_span.parent_id) == ("0a" * 16, "")
    assert (read_span.start_ns, read_span.end_ns, read_span.kind) == (now, now + 1, 2)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"intValue": "-5"}, -5),
        ({"intValue": 7}, 7),
        ({"intValue": 0}, 0),
        ({"doubleValue": 1}, 1.0),
        ({"doubleValue": "2.5"}, 2.5),
        ({"doubleValue": "NaN"}, "NaN"),
        ({"boolValue": False}, False),
        ({"bytesValue": "AP_-"}, "AP/+"),
        ({"bytesValue": "AA"}, "AA=="),
        ({"stringValue": None}, None),
        ({"arrayValue": {}}, []),
        ({"arrayValue": {"values": [None, {"stringValue": ""}]}}, [None, ""]),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"intValue": "1"}}]}}, {"k": 1}),
        ({}, None),
        (None, None),
    ],
)
def test_a_value_in_json(value: Any, expected: Any) -> None:
    found = value_in_json(value)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"traceId": "xy" * 16}, "trace id is not hexadecimal"),
        ({"traceId": 5}, "traceId must be a string or null"),
        ({"startTimeUnixNano": "1e18"}, "start time is not an integer"),
        ({"startTimeUnixNano": -1}, "start time has more than 64 bits"),
        ({"startTimeUnixNano": 2**64}, "start time has more than 64 bits"),
        ({"kind": "SPAN_KIND_CLIENT"}, "kind must be a whole number or null"),
        (
            {"attributes": [{"key": "a", "value": {"intValue": str(2**63)}}]},
            "an intValue has more than 64 bits",
        ),
        (
            {"attributes": [{"key": "a", "value": {"bytesValue": "a"}}]},
            "a bytesValue is not base64",
        ),
        (
            {"attributes": [{"key": "a", "value": {"doubleValue": "x"}}]},
            "a doubleValue is not a number",
        ),
    ],
)
def test_a_bad_span_in_json_is_rejected_alone(changes: dict[str, Any], reason: str) -> None:
    document = one_span()
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans.insert(0, spans[0] | {"spanId": "AB" * 8} | changes)
    reading = read_json(document)
    assert len(reading.records.spans) == 1
    assert reading.tally.reasons == {reason: 1}
    [bad] = reading.bad
    assert (bad.span_id, bad.excerpt[:10]) == ("AB" * 8, '{"traceId"')


def test_half_a_surrogate_pair_is_replaced() -> None:
    body = json.dumps(one_span(name="cut-off")).replace("cut-off", r"cut \\ud83d \ud83d")
    [span] = read(TRACES, JSON, body.encode()).records.spans
    assert span.name == "cut \\ud83d \N{REPLACEMENT CHARACTER}"
