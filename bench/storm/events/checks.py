"""The stored events of sessions, compared with what was acknowledged in a kill run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clickhouse_driver import Client

from bench.storm.checks import SENT, some

_EVENTS = f"""
SELECT session_id, count(), uniqExact(id), groupBitXor(xxHash64(payload))
FROM events FINAL WHERE {SENT} GROUP BY session_id
"""


@dataclass(frozen=True)
class Content:
    """The events of a session: their number, and all hashes of their bytes in one."""

    events: int
    digest: int


def event_problems(clickhouse: Client, expected: Mapping[str, Content]) -> Iterator[str]:
    """Yields what was lost, doubled or changed."""
    rows = clickhouse.execute(_EVENTS)
    stored = {session_id: (rest[0], Content(rest[1], rest[2])) for session_id, *rest in rows}
    lost = sum(
        max(0, content.events - stored.get(session_id, (0, Content(0, 0)))[1].events)
        for session_id, content in expected.items()
    )
    if lost:
        yield f"{lost} acknowledged events are LOST"
    doubled = {s: n - content.events for s, (n, content) in stored.items() if n > content.events}
    if doubled:
        yield f"{sum(doubled.values())} events are DOUBLED, as in {some(doubled)}"
    others = stored.keys() - expected.keys()
    if others:
        yield f"{len(others)} sessions were never sent, as {some(others)}"
    changed = [
        session_id
        for session_id, (_, content) in stored.items()
        if session_id in expected and content != expected[session_id]
    ]
    if changed:
        yield f"{len(changed)} sessions have other events than were sent, as {some(changed)}"
