"""Context windows that an organization sets, and the events that they affect."""

from collections.abc import Callable, Sequence
from typing import Any

from flask.testing import FlaskClient

from shared.foundation.core.clock import format_ts, now
from tests.support.app import Headers
from tests.support.document import Document

Key = Callable[..., Headers]
Store = Callable[[Sequence[object]], None]

PATH = "/v1/settings/model-context-windows"
MODEL = "claude-sonnet-4-5"


def put(client: FlaskClient, headers: Headers, window: object) -> Any:
    body = {"model_id": MODEL, "context_window": window}
    return client.put(PATH, json=body, headers=headers)


def test_every_answer_about_windows_is_what_the_document_says(
    client: FlaskClient, document: Document, key: Key
) -> None:
    headers = key("settings:read", "settings:write")
    row = document.require(put(client, headers, 5000), "PUT", PATH)
    assert (row["model_id"], row["context_window"]) == (MODEL, 5000)
    listed = document.require(client.get(PATH, headers=headers), "GET", PATH)
    assert listed == {"model_context_windows": [row]}
    for window, status in ((0, 200), (1_000_000, 200), (1_000_001, 422), (-1, 422), ("5", 422)):
        answer = put(client, headers, window)
        assert answer.status_code == status
        document.require(answer, "PUT", PATH)
    gone = client.delete(f"{PATH}?model={MODEL}", headers=headers)
    assert (gone.status_code, gone.data) == (204, b"")
    answer = client.delete(f"{PATH}?model={MODEL}", headers=headers)
    assert answer.status_code == 404
    document.require(answer, "DELETE", PATH)


def test_a_window_says_where_it_comes_from(
    client: FlaskClient, document: Document, key: Key
) -> None:
    headers, template = key(), f"{PATH}/resolve"

    def resolved(model: str) -> tuple[int | None, str]:
        answer = client.get(template, query_string={"model": model}, headers=headers)
        body = document.require(answer, "GET", template)
        assert body["model_id"] == model
        return body["context_window"], body["source"]

    for name in (MODEL, f"anthropic/{MODEL}-20250929", f"us.anthropic.{MODEL}-20250929-v1:0"):
        assert resolved(name) == (200_000, "default")
    assert resolved("nobody's") == (None, "unknown")
    put(client, headers, 5000)
    assert resolved(MODEL) == (5000, "override")
    assert resolved(f"anthropic/{MODEL}") == (200_000, "default")
    put(client, headers, 0)
    assert resolved(MODEL) == (None, "override")


def test_the_next_event_has_the_window_that_was_set(
    client: FlaskClient, key: Key, store: Store, listed: Callable[..., list[dict[str, Any]]]
) -> None:
    headers = key()
    steps: list[Callable[[], Any]] = [
        lambda: None,
        lambda: put(client, headers, 1000),
        lambda: put(client, headers, 0),
        lambda: client.delete(f"{PATH}?model={MODEL}", headers=headers),
    ]
    for step, change in enumerate(steps):
        change()
        tokens = {"input_tokens": 700, "output_tokens": 50}
        event = {"timestamp": format_ts(now()), "type": "model_response", "model": MODEL, **tokens}
        store([{"session_id": f"s{step}", **event}, {**event, "session_id": "r", "type": "note"}])
    found = {
        row["session_id"]: (row["context_window"], row["context_fill"])
        for row in listed("event_type=model_response")
    }
    assert found == {
        "s0": (200_000, 0.00375),
        "s1": (1000, 0.75),
        "s2": (None, None),
        "s3": (200_000, 0.00375),
    }
