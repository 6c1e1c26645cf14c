"""Events in, events out."""

import gzip
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.clock import format_ts
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from tests.support.app import Headers, new_key
from tests.support.document import Document
from tests.support.runtime import make_org

Post = Callable[..., Any]
Store = Callable[[Sequence[object]], None]
Listed = Callable[..., list[dict[str, Any]]]
Key = Callable[..., Headers]

START = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
NDJSON = "application/x-ndjson"


def event(second: float = 0, **fields: Any) -> dict[str, object]:
    moment = format_ts(START + timedelta(seconds=second))
    return {"session_id": "s", "timestamp": moment, "type": "note", **fields}


def drain(runtime: Runtime) -> None:
    Drain(runtime, "contracts", IngestRulesCache(runtime)).run()


def test_every_row_is_what_the_document_says(
    store: Store, client: FlaskClient, document: Document, reader: Headers
) -> None:
    """`is_error` is a boolean however rare errors are. Numbers are numbers, nulls are nulls."""
    response = {"type": "model_response", "model": "gpt-4o", "input_tokens": 64, "output_tokens": 0}
    rare = [event(101, **response), event(102, type="error", error_type="E", message="m")]
    store([*(event(n, n=n) for n in range(100)), *rare])
    for path in ("/v1/events", "/v1/events/summary"):
        page = client.get(f"{path}?limit=1000", headers=reader)
        rows = document.require(page, "GET", path)["events"]
        assert [row["is_error"] for row in rows] == [True] + [False] * 101
        assert all(0 <= row["id"] < 2**53 for row in rows)
    answered = rows[1]
    assert (answered["output_tokens"], answered["context_window"]) == (0, 128_000)
    assert answered["context_fill"] == 64 / 128_000


def test_the_same_bytes_are_one_event_whatever_they_came_in(
    post: Post, listed: Listed, runtime: Runtime
) -> None:
    """Same = the same bytes of one line or array element, trimmed, in one organization."""
    line = json.dumps(event(n=1)).encode()
    other = line.replace(b'"n": 1', b'"n":1')
    post(line + b"\n  " + line + b" \r\n" + other)
    post(b"[ " + line + b" ,\n" + line + b"\t]", "application/json")
    packed = gzip.compress(b'{"events": [' + line + b"]}")
    post(packed, "application/json", Content_Encoding="gzip")
    drain(runtime)
    assert len(listed()) == 2
    assert {row["payload"]["n"] for row in listed()} == {1}


def test_the_same_bytes_in_two_organizations_are_two_events(
    client: FlaskClient, runtime: Runtime
) -> None:
    keys = [new_key(runtime, make_org(runtime)) for _ in range(2)]
    line = json.dumps(event()).encode()
    for headers in keys:
        client.post("/v1/events", data=line, content_type=NDJSON, headers=headers)
    drain(runtime)
    found = [client.get("/v1/events", headers=headers).get_json()["events"] for headers in keys]
    assert [len(rows) for rows in found] == [1, 1]
    assert found[0][0]["id"] != found[1][0]["id"]


def test_an_empty_body_needs_no_content_type(client: FlaskClient, reader: Headers) -> None:
    answer = client.post("/v1/events", headers=reader)
    assert (answer.status_code, answer.json) == (202, {"accepted": 0, "skipped": 0, "errors": []})


def test_an_answer_lists_the_first_twenty_errors(post: Post, document: Document) -> None:
    good = json.dumps(event()).encode()
    answer = post(b"\n".join([b"nonsense", good, *[b"{}"] * 30]))
    body = document.require(answer, "POST", "/v1/events")
    assert (body["accepted"], body["skipped"]) == (1, 31)
    assert [error["line"] for error in body["errors"]] == [1, *range(3, 22)]


def bounds() -> list[tuple[dict[str, Any], bool]]:
    """Returns fields to add to an event, and whether the event is then stored.

    This is a function because a list made at import would be minutes old in a slow run.
    """
    now = datetime.now(UTC)
    return [
        ({"session_id": "x" * 256}, True),
        ({"session_id": "x" * 257}, False),
        ({"session_id": "\N{GRINNING FACE}" * 256}, True),
        ({"session_id": "a/b,c\\d'\"%"}, True),
        ({"session_id": "a\x7fb"}, False),
        ({"session_id": ""}, False),
        ({"session_id": 7}, False),
        ({"agent_id": "x" * 256}, True),
        ({"agent_id": "x" * 257}, False),
        ({"type": "x" * 64}, True),
        ({"type": "x" * 65}, False),
        ({"environment": "x" * 64}, True),
        ({"environment": "x" * 65}, False),
        ({"environment": "a,b"}, False),
        ({"timestamp": "2000-01-01T00:00:00Z"}, True),
        ({"timestamp": "1999-12-31T23:59:59.999999Z"}, False),
        ({"timestamp": "2000-01-01T00:00:00+00:01"}, False),
        ({"timestamp": format_ts(now + timedelta(hours=23, minutes=50))}, True),
        ({"timestamp": format_ts(now + timedelta(hours=24, minutes=10))}, False),
        ({"timestamp": "2026-11-01T08:00:00"}, False),
        ({"timestamp": 1793520000}, False),
    ]


def test_the_bounds_of_the_fields_that_every_event_has(post: Post) -> None:
    cases = bounds()
    told = post(b"\n".join(json.dumps(event(**fields)).encode() for fields, _ in cases)).json
    refused = [number for number, (_, stored) in enumerate(cases, 1) if not stored]
    assert [error["line"] for error in told["errors"]] == refused
    assert told["accepted"] == len(cases) - len(refused)


def test_summary_takes_the_same_parameters_order_and_cursors(
    store: Store, client: FlaskClient, reader: Headers
) -> None:
    store([event(n % 3, n=n) for n in range(9)])
    for order in ("asc", "desc"):
        query: dict[str, object] = {"order": order, "limit": 4}
        first = client.get("/v1/events", query_string=query, headers=reader).get_json()
        query["cursor"] = first["next_cursor"]
        pages = [
            client.get(path, query_string=query, headers=reader).get_json()
            for path in ("/v1/events", "/v1/events/summary")
        ]
        full, short = ([row["id"] for row in page["events"]] for page in pages)
        assert full == short
        assert len(full) == 4
        assert pages[0]["next_cursor"] == pages[1]["next_cursor"]


def test_ascending_is_descending_reversed_in_pages_too(store: Store, listed: Listed) -> None:
    store([event(n % 2, n=n) for n in range(11)])
    ascending = [row["payload"]["n"] for row in listed("order=asc&limit=3")]
    assert ascending == [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9]
    assert [row["payload"]["n"] for row in listed("limit=4")] == ascending[::-1]


# Part of a payload as sent, and searches that find it.
SPELLINGS = [
    (rb'"caf\u00e9"', "CAFÉ", True),
    ('"CAFÉ"'.encode(), "café", True),
    (rb'"\ud83d\ude00 ok"', "\N{GRINNING FACE} OK", True),
    (rb'"say \"hi\""', 'say "hi"', True),
    (rb'"a\/b"', "a/b", True),
    (rb'{"deep": [{"Needle": 1}]}', "needle", True),
    (rb'["x", 12.5]', "12.5", True),
    (rb'{"a": "b"}', '": "', False),
    (rb'"50%_x"', "50%_X", True),
    (rb'"50%_x"', "50__x", False),
]


@pytest.mark.parametrize(("sent", "needle", "found"), SPELLINGS)
def test_search_finds_keys_and_values_however_the_sender_escaped_them(
    store: Store,
    client: FlaskClient,
    reader: Headers,
    sent: bytes,
    needle: str,
    found: bool,
) -> None:
    store([json.dumps(event()).encode()[:-1] + b', "own": ' + sent + b"}"])
    for path in ("/v1/events", "/v1/events/summary"):
        answer = client.get(path, query_string={"search": needle}, headers=reader)
        assert bool(answer.get_json()["events"]) is found
    excluded = {"search": needle, "search_exclude": "own"}
    assert client.get("/v1/events", query_string=excluded, headers=reader).json == {
        "events": [],
        "next_cursor": None,
    }


# Facet → its field, and whether it is sorted by name (else most used first).
FACETS = [
    ("environments", "environment", True),
    ("event_types", "type", True),
    ("agent_ids", "agent_id", False),
    ("models", "model", False),
    ("tool_names", "tool_name", False),
    ("hook_names", "hook_name", False),
    ("error_types", "error_type", False),
    ("trigger_events", "trigger_event", False),
]


def test_facets_are_bare_arrays_in_their_order(
    store: Store, client: FlaskClient, document: Document, reader: Headers
) -> None:
    uses = ["c", "a", "a", "b", "b", "b"]
    fields = [name for _, name, _ in FACETS]
    store([event(n, n=n) | dict.fromkeys(fields, value) for n, value in enumerate(uses)])
    for facet, _, by_name in FACETS:
        answer = client.get(f"/v1/events/{facet}", headers=reader)
        values = document.require(answer, "GET", f"/v1/events/{facet}")
        assert values == (["a", "b", "c"] if by_name else ["b", "a", "c"]), facet


def test_a_facet_has_at_most_500_values(store: Store, client: FlaskClient, reader: Headers) -> None:
    store([event(n / 1000, tool_name=f"t{n:03}") for n in range(501)] + [event(1, tool_name="top")])
    store([event(2, tool_name="top", n=n) for n in range(2)])
    values = client.get("/v1/events/tool_names", headers=reader).get_json()
    assert len(values) == 500
    assert values[0] == "top"
