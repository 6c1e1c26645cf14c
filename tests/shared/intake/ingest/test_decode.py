"""Accepted events, skipped events, and the error texts of the skipped ones."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.core.clock import format_ts, from_us
from shared.foundation.core.errors import BadRequest, Invalid, TooLarge
from shared.intake.ingest import candidates, elements
from shared.intake.ingest.candidates import json_elements, ndjson_lines
from shared.intake.ingest.decode import MAX_ERRORS, DecodedBody, decode_events
from tests.support.airline import Airline

ORG = "6f8a3c1e-0000-4000-8000-000000000000"
MAX_EVENT = 1024 * 1024


def decode(*lines: bytes, org: str = ORG) -> DecodedBody:
    return decode_events(list(lines), org, MAX_EVENT)


def event(**fields: bytes) -> bytes:
    members = {
        "session_id": b'"s"',
        "timestamp": b'"2026-11-01T08:00:33.587Z"',
        "type": b'"note"',
        **fields,
    }
    return b"{" + b",".join(b'"%s":%s' % (k.encode(), v) for k, v in members.items()) + b"}"


def test_defaults_of_optional_fields() -> None:
    batch = decode(event()).batch
    assert (batch.agent_ids, batch.environments) == (["main"], ["default"])
    assert from_us(batch.ts[0]) == datetime(2026, 11, 1, 8, 0, 33, 587000, UTC)


def test_payload_is_what_was_sent_without_the_space_around_it() -> None:
    sent = event(z=b'"\\u00e9 \\/ 1e400"')
    assert decode(b"  " + sent + b"\r").batch.payloads == [sent]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (event(z=b'"\xff"'), "is not valid UTF-8"),
        (event(z=b"NaN"), "is not JSON"),
        (event(z=b"[" * 100_000 + b"]" * 100_000), "is nested too deeply"),
        (event(z=b'"\x01"'), "is not JSON"),
        (event(z=b'"\\q"'), "is not JSON"),
        (event()[:-1], "is not JSON"),
        (b"[]", "is not an object"),
        (b'"text"', "is not an object"),
        (b'{"timestamp":"2026-11-01T08:00:33Z","type":"x"}', "session_id is missing"),
        (event(timestamp=b'"2026-11-01T08:00:33.587"'), "timestamp has no zone"),
        (event(timestamp=b'"yesterday"'), "timestamp is not an RFC 3339 time"),
        (event(timestamp=b'"1970-01-01T00:00:00Z"'), "timestamp is before 2000-01-01"),
        (event(timestamp=b"1793520033"), "timestamp must be an RFC 3339 time"),
        (event(session_id=b'"' + b"a" * 300 + b'"'), "session_id must have at most 256 characters"),
        (event(session_id=b'""'), "session_id must not be empty"),
        (event(session_id=b'"a\\u0000"'), "session_id contains a control character"),
        (event(agent_id=b'"a\\n"'), "agent_id contains a control character"),
        (event(type=b'"' + b"a" * 65 + b'"'), "type must have at most 64 characters"),
        (event(environment=b'"a,b"'), "environment contains a comma"),
        (event(environment=b"null"), "environment must be a string"),
        (event(z=b'"' + b"a" * MAX_EVENT + b'"'), f"larger than {MAX_EVENT} bytes"),
    ],
)
def test_a_bad_event_among_good_ones_is_skipped_with_its_reason(line: bytes, reason: str) -> None:
    decoded = decode(event(), line, event(session_id=b'"t"'))
    assert decoded.skipped == 1
    assert [(error.line, error.error) for error in decoded.errors] == [(2, reason)]
    assert decoded.batch.session_ids == ["s", "t"]


def test_events_read_together_are_those_read_one_by_one() -> None:
    good = [
        event(),
        b" " + event(session_id=b'"\\u00e9,t"', agent_id=b'"a,b"') + b"\r",
        event(z='"日本"'.encode()),
        event(timestamp=b'"2026-11-01T08:00:33.5871234+02:00"', environment=b'"e"'),
    ]
    together = decode(*good, b"").batch
    # The bad line at the end is skipped, and no line is read together with it.
    one_by_one = decode(*good, b"{").batch
    assert len(together) == len(good)
    together.arrivals = [arrival % 2**POSITION_BITS for arrival in together.arrivals]
    one_by_one.arrivals = [arrival % 2**POSITION_BITS for arrival in one_by_one.arrivals]
    assert together == one_by_one


@pytest.mark.parametrize("blank", [b"", b" \r"])
def test_a_line_keeps_its_number_behind_blank_ones(blank: bytes) -> None:
    decoded = decode(event(), blank, event(), b"{")
    assert [arrival % 2**POSITION_BITS for arrival in decoded.batch.arrivals] == [1, 3]
    assert [error.line for error in decoded.errors] == [4]


def test_a_time_of_next_week_is_skipped_and_one_of_tonight_is_not() -> None:
    now = datetime.now(UTC)
    soon = format_ts(now + timedelta(hours=23)).encode()
    late = format_ts(now + timedelta(days=7)).encode()
    decoded = decode(event(timestamp=b'"%s"' % soon), event(timestamp=b'"%s"' % late))
    assert len(decoded.batch) == 1
    assert [error.error for error in decoded.errors] == [
        "timestamp is more than 24 hours in the future"
    ]


@pytest.mark.parametrize(
    "value",
    [
        b"1e400",
        b"9" * 400,
        b'"\\ud800"',
        b'"\\udc00 half"',
        b'"\\ud83d\\ud83d\\ude00"',
        b'"\\\\ud8"',
    ],
)
def test_odd_but_grammatical_values_stay_as_sent(value: bytes) -> None:
    sent = event(z=value)
    assert decode(sent).batch.payloads == [sent]


def test_of_duplicate_keys_the_last_counts() -> None:
    line = event().replace(b'"session_id":"s"', b'"session_id":"first","session_id":"last"')
    assert decode(line).batch.session_ids == ["last"]


def test_of_duplicate_keys_only_the_last_is_judged() -> None:
    line = event().replace(b'"type":', b'"type":1,"session_id":null,"session_id":"t","type":')
    assert decode(line).batch.session_ids == ["t"]
    line = event().replace(b'"type":', b'"session_id":"t","session_id":null,"type":')
    assert decode(line).errors[0].error.startswith("session_id must be a string")
    line = event().replace(b'"type":', b'"type":1,"\\ud800":2,"x":')
    assert decode(line).errors[0].error.startswith("type must be a string")


def test_ids_with_slashes_commas_and_any_script_are_kept() -> None:
    wanted = ["a/b", "c,d", "ünï", "x" * 256, "..", "%2F"]
    decoded = decode(*(event(session_id=b'"%s"' % name.encode()) for name in wanted))
    assert decoded.batch.session_ids == wanted


def test_only_the_first_errors_are_reported_but_all_are_counted() -> None:
    decoded = decode(*[b"x"] * 50)
    assert decoded.skipped == 50
    assert [error.line for error in decoded.errors] == list(range(1, MAX_ERRORS + 1))


def test_blank_lines_count_for_nothing_but_their_number() -> None:
    decoded = decode_events(ndjson_lines(b"\n\n" + event() + b"\n \nx\n"), ORG, MAX_EVENT)
    assert (len(decoded.batch), decoded.skipped, decoded.errors[0].line) == (1, 1, 5)


def test_the_same_line_is_the_same_event_in_one_organization_only() -> None:
    first, again = decode(event()).batch, decode(b" " + event()).batch
    other = decode(event(), org="6f8a3c1e-0000-4000-8000-000000000001").batch
    assert first.ids == again.ids
    assert first.ids != other.ids
    assert 0 <= first.ids[0] < 2**53


def test_arrival_keeps_the_order_of_the_batch() -> None:
    batch = decode(*(event(n=b"%d" % n) for n in range(100))).batch
    assert batch.arrivals == sorted(batch.arrivals)
    assert len(set(batch.arrivals)) == 100


def test_an_array_and_an_object_of_events_are_told_apart_into_elements() -> None:
    for body in (b' [{"a":1}, {"b":"]"}] ', b'{"x":0,"events": [{"a":1}, {"b":"]"}]}'):
        assert json_elements(body) == [b'{"a":1}', b'{"b":"]"}']
    assert json_elements(b"[]") == []


def test_one_hopeless_element_takes_no_other_along() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    for body in (b"[%s, %s]", b'{"events":[%s, %s]}'):
        elements = json_elements(body % (event(z=deep), event()))
        decoded = decode(*elements)
        assert (len(decoded.batch), decoded.skipped) == (1, 1)


@pytest.mark.parametrize("body", [b"\n" * 2**21, b"1\n" * 2**21])
def test_more_lines_than_a_batch_has_places_for(body: bytes) -> None:
    with pytest.raises(TooLarge):
        ndjson_lines(body)


@pytest.fixture
def many_numbers(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """An array of more numbers than a batch may have: 2**21 of them would take a second."""
    monkeypatch.setattr(candidates, "MAX_EVENTS", 2**14)
    return b"[%s1]" % (b"1," * 2**14)


@pytest.mark.parametrize("body", [b"%s", b'{"x":",","events":%s}'])
def test_more_elements_than_a_batch_has_places_for(body: bytes, many_numbers: bytes) -> None:
    with pytest.raises(TooLarge):
        json_elements(body % many_numbers)


def test_commas_inside_elements_are_no_elements(many_numbers: bytes) -> None:
    wrapped = b'{"z":["events"],"a":"events","events" : [%s,%s],"b":{"events":[1]}}'
    for body in (b"[%s,%s]", wrapped):
        assert json_elements(body % (many_numbers, event())) == [many_numbers, event()]


@pytest.mark.parametrize("junk", [b"[", b"[]"])
def test_brackets_are_counted_only_so_far(junk: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    # 16 million tokens take seven seconds, and each test as much.
    assert elements._MAX_TOKENS <= 2**24
    monkeypatch.setattr(elements, "_MAX_TOKENS", 2**16)
    with pytest.raises(BadRequest):
        json_elements(b"[" + junk * (2**15 - 1))
    with pytest.raises(TooLarge):
        json_elements(b"[" + junk * 2**16)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "junk", [b'"' + b'\\"' * 2**21, b'"' + b"a" * 2**23, b'"' + b"\\n" * 2**21]
)
def test_strings_cost_neither_hours_nor_gigabytes(junk: bytes) -> None:
    """Backtracking would take hours or gigabytes, with or without an end of the string."""
    with pytest.raises(BadRequest):
        json_elements(b"[[[],%s" % junk)
    assert json_elements(b'[[[[,%s"]]]]' % junk) == [b'[[[,%s"]]]' % junk]


@pytest.mark.parametrize(
    "body", [b"{", b"[1,", b"[]]", b"nope", b"[{},]", b"[,]", b"[{},,{}]", b'{"events":[{},]}']
)
def test_a_body_that_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        json_elements(body)


@pytest.mark.parametrize("body", [b'{"events":5}', b"5", b'"x"', b"null", b"{}"])
def test_json_that_is_no_array_of_events_is_refused(body: bytes) -> None:
    with pytest.raises(Invalid):
        json_elements(body)


def test_the_whole_airline_recording_is_good(airline: Airline) -> None:
    decoded = decode(*airline.lines)
    assert (len(decoded.batch), decoded.skipped) == (13_007, 0)
    assert len(set(decoded.batch.ids)) == 13_007
    assert decoded.batch.payloads == list(airline.lines)
