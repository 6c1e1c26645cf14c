"""The form in which Redis stores records."""

import pytest

from shared.intake.otlp.records import (
    Link,
    LogRecord,
    Records,
    Resource,
    Scope,
    Span,
    SpanEvent,
    decode_records,
    digest_of,
    encode_records,
)

VALUES = {"none": None, "bool": True, "int": -(2**63), "float": 0.5, "list": [1, {"a": ["ü"]}]}


def records(texts: int) -> Records:
    span = Span(
        trace_id="0a" * 16,
        span_id="0b" * 8,
        parent_id="",
        name="chat",
        kind=3,
        start_ns=2**64 - 1,
        end_ns=0,
        attributes=VALUES,
        events=[SpanEvent("exception", 1, {"exception.type": "E"})],
        links=[Link("0c" * 16, "0d" * 8, {})],
        status_code=2,
        status_message="refused",
        resource=0,
        scope=0,
    )
    log = LogRecord("", "", 1, "INFO", "a.b", {"text": "x" * texts}, VALUES, 0, 0, 2**64 - 1)
    resource = Resource({"service.name": "bot"})
    return Records(1, [resource], [Scope("s", "1", {})], [span], [log])


@pytest.mark.parametrize("texts", [1, 100_000])
def test_come_back_as_they_were(texts: int) -> None:
    sent = records(texts)
    assert decode_records(encode_records(sent)) == sent
    assert len(sent) == 2


@pytest.mark.parametrize("data", [b"", b"\0", b"\1", b"\1abc", b"\0\x93\1\2\3"])
def test_anything_else_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="not records"):
        decode_records(data)


def test_a_digest_ignores_the_order_of_members_only() -> None:
    assert digest_of({"a": 1, "b": {"c": 2, "d": 3}}) == digest_of({"b": {"d": 3, "c": 2}, "a": 1})
    assert digest_of([1, 2]) != digest_of([2, 1])
    assert digest_of("a", "") != digest_of("", "a")
    assert digest_of(1) != digest_of(1.0)
