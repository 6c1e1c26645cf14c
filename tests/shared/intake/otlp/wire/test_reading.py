"""Requests in protobuf and JSON: the same records from both, and single bad ones left out."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from shared.foundation.core.errors import BadRequest, TooLarge
from shared.intake.otlp.wire import pruning, values
from shared.intake.otlp.wire.reading import JSON, PROTOBUF, Reading
from shared.intake.otlp.wire.signals import LOGS, METRICS, TRACES, Signal
from tests.support.otlp import (
    SECOND_NS,
    encoded,
    framed,
    logs,
    make_log,
    make_span,
    metrics,
    needs_samples,
    one_span,
    read,
    samples,
    signal_of,
    size,
    text_attribute,
    traces,
)

DAY_NS = 86_400 * SECOND_NS


def read_message(message: Message, signal: Signal = TRACES) -> Reading:
    return read(signal, PROTOBUF, message.SerializeToString())


def read_document(document: Any) -> Reading:
    return read(TRACES, JSON, json.dumps(document).encode())


@needs_samples
@pytest.mark.parametrize("path", samples(".pb"), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_samples_give_the_same_in_protobuf_and_json(path: Path) -> None:
    signal = signal_of(path)
    binary = read(signal, PROTOBUF, path.read_bytes())
    text = read(signal, JSON, path.with_suffix(".json").read_bytes())
    assert binary.tally.total == text.tally.total > 0
    assert binary.tally.rejected == text.tally.rejected == 0
    binary.records.received_ms = text.records.received_ms
    assert binary.records == text.records
    assert len(binary.records) == (0 if signal is METRICS else binary.tally.total)


def test_a_span_has_all_its_fields() -> None:
    span = make_span(parent_span_id=bytes([3] * 8), trace_state="a=b", flags=0x101)
    span.status.code = Status.STATUS_CODE_ERROR
    span.status.message = "refused"
    event = span.events.add(name="exception", time_unix_nano=5)
    event.attributes.append(text_attribute("exception.type", "E"))
    link = span.links.add(trace_id=bytes([4] * 16), span_id=bytes([5] * 8))
    link.attributes.append(text_attribute("k", "v"))
    request = traces(span)
    request.resource_spans[0].scope_spans[0].scope.version = "1.2"
    records = read_message(request).records
    [read_span] = records.spans
    assert (read_span.trace_id, read_span.span_id) == ("01" * 16, "0000000000000001")
    assert (read_span.parent_id, read_span.name, read_span.kind) == ("03" * 8, "chat 1", 3)
    assert read_span.start_ns == span.start_time_unix_nano
    assert read_span.end_ns == span.end_time_unix_nano
    assert read_span.attributes == {"gen_ai.operation.name": "chat"}
    assert (read_span.status_code, read_span.status_message) == (2, "refused")
    [read_event], [read_link] = read_span.events, read_span.links
    assert (read_event.name, read_event.time_ns) == ("exception", 5)
    assert read_event.attributes == {"exception.type": "E"}
    assert (read_link.trace_id, read_link.span_id) == ("04" * 16, "05" * 8)
    assert read_link.attributes == {"k": "v"}
    assert records.resources[read_span.resource].attributes == {"service.name": "bot"}
    scope = records.scopes[read_span.scope]
    assert (scope.name, scope.version) == ("tests", "1.2")


def test_a_value_of_every_type() -> None:
    span = make_span()
    add = span.attributes.add
    add(key="text").value.string_value = "ü" * 20_000
    add(key="int").value.int_value = -(2**63)
    add(key="large").value.int_value = 2**63 - 1
    add(key="float").value.double_value = 0.1
    add(key="nan").value.double_value = float("nan")
    add(key="less").value.double_value = float("-inf")
    add(key="true").value.bool_value = True
    add(key="false").value.bool_value = False
    add(key="bytes").value.bytes_value = b"\0\xff\xfe"
    add(key="none")
    add(key="empty").value.string_value = ""
    values = add(key="list").value.array_value.values
    values.add().string_value = "a"
    values.add().int_value = 1
    inner = add(key="object").value.kvlist_value.values.add(key="deeper").value
    inner.kvlist_value.values.add(key="b").value.bool_value = True
    [read_span] = read_message(traces(span, make_span(2))).records.spans[:1]
    assert read_span.attributes == {
        "gen_ai.operation.name": "chat",
        "text": "ü" * 20_000,
        "int": -(2**63),
        "large": 2**63 - 1,
        "float": 0.1,
        "nan": "NaN",
        "less": "-Infinity",
        "true": True,
        "false": False,
        "bytes": "AP/+",
        "none": None,
        "empty": "",
        "list": ["a", 1],
        "object": {"deeper": {"b": True}},
    }


def test_a_log_record_has_all_its_fields() -> None:
    record = make_log(span_id=bytes([2] * 8), event_name="gen_ai.choice")
    record.body.kvlist_value.values.add(key="role").value.string_value = "user"
    observed = make_log(trace_id=b"", time_unix_nano=0, severity_number=18, severity_text="")
    observed.observed_time_unix_nano = time.time_ns()
    first, second = read_message(logs(record, observed), LOGS).records.logs
    assert (first.trace_id, first.span_id, first.severity) == ("01" * 16, "02" * 8, "INFO")
    assert (first.event_name, first.body) == ("gen_ai.choice", {"role": "user"})
    assert (second.trace_id, second.span_id, second.body) == ("", "", None)
    assert (second.time_ns, second.severity) == (observed.observed_time_unix_nano, "ERROR")
    assert first.digest != second.digest


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"trace_id": bytes([1] * 8)}, "trace id is not 16 bytes"),
        ({"trace_id": b""}, "trace id is not 16 bytes"),
        ({"trace_id": bytes(16)}, "trace id is zeros"),
        ({"span_id": bytes([1] * 9)}, "span id is not 8 bytes"),
        ({"span_id": bytes(8)}, "span id is zeros"),
        ({"parent_span_id": b"abc"}, "parent span id is not 8 bytes"),
        ({"start_time_unix_nano": 0}, "start time is missing"),
        ({"start_time_unix_nano": 946684799 * SECOND_NS}, "start time is before 2000"),
        (
            {"start_time_unix_nano": time.time_ns() + DAY_NS + 3600 * SECOND_NS},
            "start time is more than 24 hours ahead",
        ),
        ({"start_time_unix_nano": 2**64 - 1}, "start time is more than 24 hours ahead"),
    ],
)
def test_a_bad_span_is_rejected_alone(changes: dict[str, Any], reason: str) -> None:
    reading = read_message(traces(make_span(1), make_span(2, **changes), make_span(3)))
    assert [span.name for span in reading.records.spans] == ["chat 1", "chat 3"]
    assert reading.tally.sentence("spans") == f"1 of 3 spans rejected: {reason} (1)"
    assert [bad.reason for bad in reading.bad] == [reason]


def test_zeros_as_parent_are_no_parent() -> None:
    [span] = read_message(traces(make_span(parent_span_id=bytes(8)))).records.spans
    assert span.parent_id == ""


def test_at_most_twenty_reasons_are_named() -> None:
    reading = read_message(traces(make_span()))
    reading.tally.total = 50
    reading.tally.reasons.update({f"reason {n}": 1 for n in range(30)}, often=3)
    sentence = reading.tally.sentence("spans")
    assert sentence.startswith("33 of 50 spans rejected: often (3), reason 0 (1), ")
    assert len(sentence.split(", ")) == 20


@pytest.mark.parametrize("form", [PROTOBUF, JSON])
@pytest.mark.parametrize(
    "place",
    ["name", "trace_state", "attribute", "key", "inner", "event", "link", "status"],
)
def test_a_string_that_is_not_utf_8_rejects_its_span(place: str, form: str) -> None:
    mark = "broken-string"
    span = make_span(2)
    if place in ("name", "trace_state"):
        setattr(span, place, mark)
    elif place == "attribute":
        span.attributes.append(text_attribute("k", mark))
    elif place == "key":
        span.attributes.append(text_attribute(mark, "v"))
    elif place == "inner":
        span.attributes.add(key="k").value.array_value.values.add().string_value = mark
    elif place == "event":
        span.events.add(name=mark)
    elif place == "link":
        span.links.add(trace_state=mark)
    else:
        span.status.message = mark
    body = encoded(traces(make_span(1), span), form)
    reading = read(TRACES, form, body.replace(mark.encode(), b"\xff" * len(mark)))
    assert [one.name for one in reading.records.spans] == ["chat 1"]
    assert reading.tally.reasons == {"a string is not UTF-8": 1}


@pytest.mark.parametrize("form", [PROTOBUF, JSON])
@pytest.mark.parametrize("place", ["resource", "resource schema", "scope", "scope schema"])
def test_a_bad_resource_or_scope_rejects_its_records(place: str, form: str) -> None:
    mark = "broken-string"
    request = traces(make_span(1), make_span(2))
    request.MergeFrom(traces(make_span(3)))
    group = request.resource_spans[0]
    if place == "resource":
        group.resource.attributes.append(text_attribute("k", mark))
    elif place == "resource schema":
        group.schema_url = mark
    elif place == "scope":
        group.scope_spans[0].scope.version = mark
    else:
        group.scope_spans[0].schema_url = mark
    body = encoded(request, form).replace(mark.encode(), b"\xff" * len(mark))
    reading = read(TRACES, form, body)
    assert [one.name for one in reading.records.spans] == ["chat 3"]
    what = place.partition(" ")[0]
    assert reading.tally.reasons == {f"{what}: a string is not UTF-8": 2}


@pytest.mark.parametrize("form", [PROTOBUF, JSON])
@pytest.mark.parametrize("kind", ["array_value", "kvlist_value"])
@pytest.mark.parametrize(("levels", "is_good"), [(64, True), (65, False), (90, False)])
def test_values_nest_64_levels_deep(levels: int, is_good: bool, kind: str, form: str) -> None:
    value: Any = {"stringValue": "x"}
    inner = b"\x0a\x01x"
    number = {"array_value": b"\x2a", "kvlist_value": b"\x32"}[kind]
    for _ in range(levels):
        if kind == "array_value":
            value = {"arrayValue": {"values": [value]}}
        else:
            value = {"kvlistValue": {"values": [{"key": "k", "value": value}]}}
            inner = b"\x0a\x01k\x12" + size(inner) + inner
        inner = b"\x0a" + size(inner) + inner
        inner = number + size(inner) + inner
    if form == JSON:
        reading = read_document(one_span(attributes=[{"key": "a", "value": value}]))
    else:
        attribute = b"\x0a\x01a\x12" + size(inner) + inner
        span = make_span().SerializeToString() + b"\x4a" + size(attribute) + attribute
        reading = read(TRACES, PROTOBUF, framed(span))
    assert len(reading.records) == is_good
    assert reading.tally.reasons == (
        {} if is_good else {"a value is nested deeper than 64 levels": 1}
    )


@pytest.mark.parametrize(
    "body",
    [
        traces(make_span()).SerializeToString()[:-1],
        b"\x0a",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x07\x01",
        b"\x0b",
        b"hello world",
    ],
)
def test_a_body_that_does_not_decode_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest, match="not an OTLP request in protobuf"):
        read(TRACES, PROTOBUF, body)


def test_a_span_that_does_not_decode_is_rejected_alone() -> None:
    bad, good = make_span(1).SerializeToString() + b"\x4a\x05", make_span(2).SerializeToString()
    reading = read(TRACES, PROTOBUF, framed(bad, good))
    assert [span.name for span in reading.records.spans] == ["chat 2"]
    assert reading.tally.reasons == {"it does not decode": 1}


def test_groups_are_unknown_fields_as_in_official_parsers() -> None:
    group = b"\x0b\x28\x05\x0c"
    [span] = read(
        TRACES, PROTOBUF, group + framed(make_span().SerializeToString() + group)
    ).records.spans
    assert span.name == "chat 1"


def test_values_of_another_form_are_unknown_fields() -> None:
    name_as_number, attribute_as_double = b"\x28\x05", b"\x49" + bytes(8)
    span = make_span().SerializeToString() + name_as_number + attribute_as_double
    [read_span] = read(TRACES, PROTOBUF, framed(span)).records.spans
    assert (read_span.name, len(read_span.attributes)) == ("chat 1", 1)


@pytest.mark.parametrize("form", [PROTOBUF, JSON])
@pytest.mark.parametrize("path", [TRACES, LOGS, METRICS])
@pytest.mark.parametrize("sent", [TRACES, LOGS, METRICS])
def test_the_body_of_another_signal_names_its_path(sent: Signal, path: Signal, form: str) -> None:
    request = {TRACES: traces(make_span()), LOGS: logs(make_log()), METRICS: metrics()}[sent]
    body = encoded(request, form)
    if sent is path:
        assert read(path, form, body).tally.total == 1
        return
    with pytest.raises(BadRequest, match=re.escape(sent.path)):
        read(path, form, body)


@pytest.mark.parametrize("signal", [TRACES, LOGS, METRICS])
@pytest.mark.parametrize(("form", "body"), [(PROTOBUF, b""), (JSON, b"{}"), (PROTOBUF, b"\x0a\0")])
def test_no_records_are_no_mistake(form: str, body: bytes, signal: Signal) -> None:
    reading = read(signal, form, body)
    assert (reading.tally.total, len(reading.records)) == (0, 0)


def test_there_are_bounds_on_fields_and_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_MEMBERS", 100)
    monkeypatch.setattr(pruning, "MAX_BRACKETS", 10)
    with pytest.raises(TooLarge):
        read(TRACES, PROTOBUF, b"\x0a\0" * 101)
    with pytest.raises(TooLarge):
        read_message(traces(*map(make_span, range(1, 60))))
    with pytest.raises(TooLarge):
        read_document(one_span(attributes=[{}] * 10))
