"""Pages show every event that existed at the start, whatever is written meanwhile."""

import itertools
import json
import threading
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.events import store_events
from tests.support.runtime import Org

EVENTS = 20_000
HOUR_SECONDS = 3600


def _line(number: int, kind: str) -> bytes:
    """Returns a line. Five events share each moment, spread over an hour."""
    second = number // 5 * HOUR_SECONDS * 5 // EVENTS
    return json.dumps(
        {
            "session_id": f"s{number % 300}",
            "timestamp": f"2026-11-02T10:{second // 60:02}:{second % 60:02}Z",
            "type": kind,
            "number": number,
        }
    ).encode()


class _Writer(threading.Thread):
    """Stores events meanwhile: of the same moments, before and after them, and old ones again."""

    def __init__(self, runtime: Runtime, org_id: str, stored: list[bytes]) -> None:
        super().__init__()
        self._runtime, self._org_id, self._stored = runtime, org_id, stored
        self.done = threading.Event()
        self.blocks = 0

    def run(self) -> None:
        for block in itertools.count():
            if self.done.is_set():
                return
            new = [_line(number, f"new {block}") for number in range(block % 7, EVENTS, 97)]
            again = self._stored[block % 5 :: 50]
            store_events(self._runtime.clickhouse, self._org_id, [*new, *again])
            self.blocks += 1


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_every_event_that_was_there_is_seen_once_and_in_order(
    runtime: Runtime, org: Org, client: FlaskClient, key: Callable[..., Headers], order: str
) -> None:
    lines = [_line(number, "old") for number in range(EVENTS)]
    there = sorted(
        store_events(runtime.clickhouse, org.id, lines), key=lambda one: (one.ts, one.arrival)
    )
    expected = [one.event_id for one in there]
    writer = _Writer(runtime, org.id, lines)
    writer.start()
    seen: list[tuple[str, int, str]] = []
    cursor, headers = "", key("events:read")
    try:
        while True:
            path = f"/v1/events/summary?limit=1000&order={order}{cursor}"
            answer = client.get(path, headers=headers).get_json()
            seen += [(row["ts"], row["id"], row["event_type"]) for row in answer["events"]]
            if answer["next_cursor"] is None:
                break
            cursor = f"&cursor={answer['next_cursor']}"
    finally:
        writer.done.set()
        writer.join()
    assert writer.blocks > 1
    assert [number for _, number, kind in seen if kind == "old"] == expected[
        :: 1 if order == "asc" else -1
    ]
    assert len({number for _, number, _ in seen}) == len(seen) > EVENTS
    moments = [ts for ts, _, _ in seen]
    assert moments == sorted(moments, reverse=order == "desc")
