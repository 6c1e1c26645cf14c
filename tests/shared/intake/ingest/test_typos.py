"""Warnings about events that are accepted although something in them is probably a mistake."""

import pytest

from shared.intake.ingest.typos import MAX_WARNINGS, EventWarning
from tests.shared.intake.ingest.test_decode import decode, event

NUMBER = "is not a whole number from 0 to 4294967295"


@pytest.mark.parametrize("beside", [[], [b"{"]], ids=["together", "one by one"])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        (event(type=b'"tool_reslt"'), ("type", "is not a known type", "tool_result")),
        (event(type=b'"tool-result"'), ("type", "is not a known type", "tool_result")),
        (event(type=b'"toolResult"'), ("type", "is not a known type", "tool_result")),
        (event(type=b'"AGENT_END"'), ("type", "is not a known type", "agent_end")),
        (event(type=b'"agent_strat"'), ("type", "is not a known type", "agent_start")),
        (event(outcome=b'"succes"'), ("outcome", "is not a known outcome", "success")),
        (event(outcome=b'"Failed"'), ("outcome", "is not a known outcome", "failed")),
        (event(outcome=b"1"), ("outcome", "is not a string", None)),
        (event(duration_ms=b'"fast"'), ("duration_ms", NUMBER, None)),
        (event(duration_ms=b"12.5"), ("duration_ms", NUMBER, None)),
        (event(output_tokens=b"-5"), ("output_tokens", NUMBER, None)),
        (event(input_tokens=b"4294967296"), ("input_tokens", NUMBER, None)),
    ],
)
def test_a_probable_mistake_is_named_and_the_event_accepted(
    line: bytes, found: tuple[str, str, str | None], beside: list[bytes]
) -> None:
    decoded = decode(event(), line, event(), *beside)
    assert len(decoded.batch) == 3
    assert decoded.batch.payloads[1] == line
    assert decoded.warnings.first == [EventWarning(1, *found)]
    assert decoded.warnings.reasons == {f"{found[0]} {found[1]}": 1}


@pytest.mark.parametrize(
    "line",
    [
        event(),
        event(type=b'"note"'),
        event(type=b'"agent_stop"'),
        event(type=b'"' + b"x" * 64 + b'"'),
        event(type=b'"tool_result"', outcome=b'"success"', duration_ms=b"0"),
        event(outcome=b'"cancelled"', output_tokens=b"4294967295"),
        event(outcome=b"null", duration_ms=b"null", input_tokens=b"null"),
        event(nested=b'{"duration_ms": "fast", "outcome": "succes"}'),
        event(duration_ms=b"1").replace(b'"type"', b'"duration_ms":"first","type"'),
    ],
)
def test_an_event_without_a_mistake_is_not_warned_of(line: bytes) -> None:
    for lines in ([line], [line, b"{"]):
        assert decode(*lines).warnings.first == []


def test_all_faults_are_counted_and_the_first_named() -> None:
    line = event(type=b'"tool_reslt"', outcome=b'"succes"', duration_ms=b"-1")
    warnings = decode(b"", *[line] * 30).warnings
    assert warnings.reasons.total() == 90
    assert len(warnings.first) == MAX_WARNINGS
    assert [(one.index, one.field) for one in warnings.first[:4]] == [
        (1, "duration_ms"),
        (1, "type"),
        (1, "outcome"),
        (2, "duration_ms"),
    ]
    # A line that is skipped has its reason, and no warning.
    assert decode(event(type=b'""', duration_ms=b"-1")).warnings.first == []
