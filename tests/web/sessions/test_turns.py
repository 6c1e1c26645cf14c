"""GET /v1/sessions/{id}/turns: its pages, and how it cuts."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.reading.sessions.turns import page
from tests.support.app import Headers
from tests.web.events.conftest import at, listed, post, reader, store

__all__ = ["listed", "post", "reader", "store"]

Store = Callable[[Sequence[object]], None]
Listed = Callable[..., list[dict[str, Any]]]
TURNS = "/v1/sessions/s/turns"


def sent(second: float, kind: str, **fields: object) -> dict[str, object]:
    return {"session_id": "s", "timestamp": at(second), "type": kind, **fields}


def test_a_session(client: FlaskClient, reader: Headers, store: Store, listed: Listed) -> None:
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "é" * 200}]
    first = json.dumps(sent(0, "model_request", messages=history[:1])).encode()
    store(
        [
            # A number that the parser of the standard library refuses.
            first[:-1] + b',"n":' + b"1" * 5000 + b"}",
            sent(1, "model_response", content="é" * 200),
            sent(2, "tool_use", tool_name="get", tool_call_id="c", input={"city": "O"}),
            sent(3, "tool_result", tool_call_id="c", output="18", duration_ms=5),
            sent(4, "model_request", messages=history),
        ]
    )
    rows = listed("session_id=s&order=asc", path="/v1/events/summary")
    times = {row["id"]: row["ts"] for row in rows}
    ids = list(times)
    found = client.get(TURNS, query_string={"max_text": 256}, headers=reader).get_json()
    tool = {"name": "get", "call_id": "c", "input": '{"city":"O"}', "output": "18"}

    def turn(n: int, role: str, text: str, events: list[int], **more: object) -> dict[str, object]:
        head = {"n": n, "role": role, "agent_id": "main", "text": text, "tool": None}
        return {**head, "ts": times[events[0]], "event_ids": events, "cut": 0, **more}

    assert found == {
        "session_id": "s",
        "total": 3,
        "turns": [
            turn(1, "user", "Hi", ids[:1]),
            turn(2, "assistant", "é" * 128, ids[1:2], cut=144),
            turn(3, "tool", "", ids[2:4], tool={**tool, "failed": False, "duration_ms": 5}),
        ],
        "next_cursor": None,
    }


def pages(client: FlaskClient, reader: Headers, **query: object) -> list[list[str]]:
    found: list[list[str]] = []
    cursor: dict[str, object] = {}
    while not found or cursor["cursor"]:
        answer = client.get(TURNS, query_string={**query, **cursor}, headers=reader).get_json()
        found.append([turn["text"] for turn in answer["turns"]])
        assert answer["total"] == 5
        cursor = {"cursor": answer["next_cursor"]}
    return found


def test_pages(
    client: FlaskClient, reader: Headers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store([sent(second, "human_input", response=str(second)) for second in range(5)])
    assert pages(client, reader, limit=2) == [["0", "1"], ["2", "3"], ["4"]]
    assert pages(client, reader, limit=5) == [list("01234")]
    monkeypatch.setattr(page, "MAX_PAGE_CHARS", 3)
    assert pages(client, reader) == [list("012"), list("34")]


@pytest.mark.parametrize("query", ["max_text=255", "max_text=65537", "cursor=x", "limit=0"])
def test_bad_parameters(client: FlaskClient, reader: Headers, store: Store, query: str) -> None:
    store([sent(0, "human_input", response="Hi")])
    answer = client.get(f"{TURNS}?{query}", headers=reader)
    assert answer.status_code == 422
    assert query.partition("=")[0] in str(answer.get_json())


def test_an_unknown_session(client: FlaskClient, reader: Headers) -> None:
    answer = client.get(TURNS, headers=reader)
    assert answer.status_code == 404
