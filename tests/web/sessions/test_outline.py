"""GET /v1/sessions/{id}/outline: its columns, its agents and its pages."""

import gzip
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.web.events.conftest import at, listed, post, reader, store

__all__ = ["listed", "post", "reader", "store"]

Store = Callable[[Sequence[object]], None]
Read = Callable[..., dict[str, Any]]
OUTLINE = "/v1/sessions/s/outline"


def sent(second: float, kind: str, **fields: object) -> dict[str, object]:
    """Returns an event of the session `s`."""
    return {"session_id": "s", "timestamp": at(second), "type": kind, **fields}


@pytest.fixture
def read(client: FlaskClient, reader: Headers) -> Read:
    """Returns the outline of the session for some parameters."""

    def ask(**query: object) -> dict[str, Any]:
        answer = client.get(OUTLINE, query_string=query, headers=reader)
        assert answer.status_code == 200, answer.get_json()
        return dict(answer.get_json())

    return ask


def test_every_column(
    store: Store, read: Read, listed: Callable[..., list[dict[str, Any]]]
) -> None:
    """Names and keys count for their types only, and texts are cut."""
    store(
        [
            sent(0, "agent_start", goal="g" * 150, tool_name="not a name"),
            sent(0.000001, "tool_use", tool_name="search", tool_call_id="1"),
            sent(2, "tool_result", tool_name="search", tool_call_id="1", error="no", duration_ms=5),
            sent(3, "hook_triggered", hook_name="policy", hook_id="1"),
            sent(
                4,
                "model_response",
                model="gpt-4o",
                input_tokens=1234,
                output_tokens=5,
                agent_id="b",
            ),
            sent(5, "error", error_type="Timeout"),
            sent(6, "note", model="gpt-4o", tool_call_id="1"),
        ]
    )
    events = listed("session_id=s&order=asc")
    found = read()
    columns = found.pop("columns")
    start, use, result, hook, model, error, note = columns.pop("pair")
    assert use == result
    assert len({0, start, use, hook}) == 4
    assert (model, error, note) == (0, 0, 0)
    assert columns == {
        "id": [row["id"] for row in events],
        "t": [0, 1, 2_000_000, 3_000_000, 4_000_000, 5_000_000, 6_000_000],
        "type": [0, 1, 2, 3, 4, 5, 6],
        "agent": [0, 0, 0, 0, 1, 0, 0],
        "name": [-1, 0, 0, 1, 2, 3, -1],
        "duration_ms": [None, None, 5, None, None, None, None],
        "error": [0, 0, 1, 0, 0, 1, 0],
        "input_tokens": [None, None, None, None, 1234, None, None],
        "output_tokens": [None, None, None, None, 5, None, None],
        "cost_usd": [None, None, None, None, 0.003135, None, None],
        "context_fill": [None, None, None, None, 0.0097, None, None],
        "summary": [
            "g" * 80,
            "search()",
            "search → no",
            "policy",
            "gpt-4o → 1234+5 tokens",
            "Timeout",
            "gpt-4o",
        ],
    }
    assert found.pop("watermark")
    assert found == {
        "session_id": "s",
        "total": 7,
        "offset": 0,
        "base_ts": at(0),
        "agents": [
            {"agent_id": "main", "parent": None, "event_count": 6},
            {"agent_id": "b", "parent": None, "event_count": 1},
        ],
        "types": [row["event_type"] for row in events],
        "names": ["search", "policy", "gpt-4o", "Timeout"],
        "prev_cursor": None,
        "next_cursor": None,
    }


def test_pairs_differ_by_family_and_key(store: Store, read: Read) -> None:
    kinds = {
        "tool_call_id": ("tool_use", "tool_result"),
        "request_id": ("model_request", "model_response"),
        "hook_id": ("hook_triggered", "hook_completed"),
        "input_id": ("human_wait", "human_input"),
        "pause_id": ("agent_pause", "agent_resume"),
        "agent_id": ("agent_start", "agent_end"),
    }
    store(
        [
            sent(number, kind, **{key: value})
            for key, types in kinds.items()
            for value in ("one", "two")
            for number, kind in enumerate(types)
        ]
    )
    columns = read()["columns"]
    pairs = sorted(columns["pair"])
    assert len(set(pairs)) == len(kinds) * 2
    assert pairs[::2] == pairs[1::2], "a start and its close share theirs"


def test_agents_by_their_first_event(store: Store, read: Read) -> None:
    """A parent is the one of the first start, where it names another agent of the session."""
    store(
        [
            sent(0, "note", agent_id="late"),
            sent(1, "agent_start", agent_id="root", parent_id="outside"),
            sent(2, "agent_start", agent_id="child", parent_id="root"),
            sent(3, "agent_start", agent_id="late", parent_id="child"),
            sent(4, "agent_start", agent_id="late", parent_id="root"),
            sent(5, "agent_start", agent_id="own", parent_id="own"),
            sent(6, "agent_start", agent_id="bare"),
            sent(7, "agent_start", agent_id="bare", parent_id="root"),
        ]
    )
    agents = read(agent_id="root", limit=1)["agents"]
    assert [(one["agent_id"], one["parent"], one["event_count"]) for one in agents] == [
        ("late", 2, 3),
        ("root", None, 1),
        ("child", 1, 1),
        ("own", None, 1),
        ("bare", None, 2),
    ]


def test_pages_in_both_directions(store: Store, read: Read) -> None:
    store([sent(number // 3, "note", n=number) for number in range(10)])
    ids = read()["columns"]["id"]
    pages = [read(limit=4)]
    while pages[-1]["next_cursor"]:
        pages.append(read(limit=4, cursor=pages[-1]["next_cursor"]))
    assert [page["columns"]["id"] for page in pages] == [ids[:4], ids[4:8], ids[8:]]
    assert [(page["total"], page["offset"]) for page in pages] == [(10, 0), (10, 4), (10, 8)]
    assert [page["base_ts"] for page in pages] == [at(0), at(1), at(2)]
    assert pages[1]["columns"]["t"] == [0, 0, 1_000_000, 1_000_000]
    back = read(limit=3, cursor=pages[2]["prev_cursor"])
    assert (back["columns"]["id"], back["offset"]) == (ids[5:8], 5)
    assert read(limit=4, cursor=back["next_cursor"])["columns"]["id"] == ids[8:]
    assert read(limit=9, cursor=pages[1]["prev_cursor"])["prev_cursor"] is None


def test_the_page_around_an_event(store: Store, read: Read) -> None:
    kinds = ("note", "tool_use")
    store([sent(number // 3, kinds[number % 2], n=number) for number in range(10)])
    ids = read()["columns"]["id"]
    for number, one in enumerate(ids):
        page = read(limit=4, around=one)
        first = number // 4 * 4
        assert (page["columns"]["id"], page["offset"]) == (ids[first : first + 4], first)
    page = read(limit=2, around=ids[4], event_type="note")
    assert (page["columns"]["id"], page["total"], page["offset"]) == ([ids[4], ids[6]], 5, 2)
    assert read(limit=2, event_type="note", cursor=page["prev_cursor"])["columns"]["id"] == [
        ids[0],
        ids[2],
    ]


def test_nothing_matches(store: Store, read: Read) -> None:
    store([sent(5, "note"), sent(0, "note")])
    found = read(event_type="none")
    assert (found["total"], found["offset"], found["base_ts"]) == (0, 0, at(0))
    assert "pair" in found["columns"]
    assert not any(found["columns"].values())
    assert (found["prev_cursor"], found["next_cursor"]) == (None, None)
    assert [one["event_count"] for one in found["agents"]] == [2]


def test_filters_and_one_column(store: Store, read: Read) -> None:
    store([sent(number, "note", text=f"word {number}", error=number == 3) for number in range(5)])
    ids = read()["columns"]["id"]
    assert read(search="WORD 3", columns="id")["columns"] == {"id": [ids[3]]}
    found = read(ts_from=at(1), ts_to=at(3))
    assert (found["columns"]["id"], found["total"], found["base_ts"]) == (ids[1:3], 2, at(1))
    assert read(errored="true")["columns"]["id"] == [ids[3]]


def test_it_is_compressed_where_the_client_accepts_gzip(
    client: FlaskClient, store: Store, reader: Headers
) -> None:
    store([sent(number, "note", n=number) for number in range(100)])
    plain = client.get(OUTLINE, headers=reader)
    assert "Content-Encoding" not in plain.headers
    for accepted, encoding in (("gzip, br", "gzip"), ("gzip;q=0", None), ("identity", None)):
        answer = client.get(OUTLINE, headers={**reader, "Accept-Encoding": accepted})
        assert answer.headers.get("Content-Encoding") == encoding
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert int(answer.headers["Content-Length"]) == len(answer.data)
        body = gzip.decompress(answer.data) if encoding else answer.data
        assert json.loads(body)["columns"] == plain.get_json()["columns"]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("around=1&cursor=x", {"around", "cursor"}),
        ("around=1&since=x", {"around", "since"}),
        ("cursor=x&since=x", {"cursor", "since"}),
        ("cursor=bm9uc2Vuc2U", {"cursor"}),
        ("since=bm9uc2Vuc2U", {"since"}),
        ("since=lP8AAAA", {"since"}),
        ("around=x", {"around"}),
        ("around=-1", {"around"}),
        ("columns=t", {"columns"}),
        ("limit=0", {"limit"}),
        ("session_id=s&ts_from=1", {"ts_from"}),
    ],
)
def test_parameters_that_cannot_be(
    client: FlaskClient, store: Store, reader: Headers, query: str, named: set[str]
) -> None:
    store([sent(0, "note")])
    answer = client.get(f"{OUTLINE}?{query}", headers=reader)
    assert answer.status_code == 422
    assert answer.get_json()["fields"].keys() == named


def test_unknown_sessions_and_events(client: FlaskClient, store: Store, reader: Headers) -> None:
    store([sent(0, "note"), {**sent(0, "note"), "session_id": "t"}])
    other = client.get("/v1/sessions/t/outline", headers=reader).get_json()["columns"]["id"][0]
    own = client.get(OUTLINE, headers=reader).get_json()["columns"]["id"][0]
    for path in (
        "/v1/sessions/unknown/outline",
        f"{OUTLINE}?around={other}",
        f"{OUTLINE}?around={own}&event_type=none",
    ):
        assert client.get(path, headers=reader).status_code == 404, path
