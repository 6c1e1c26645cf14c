"""The export of a session as JSON lines."""

from collections.abc import Iterator

from shared.clickhouse import ClickHouse
from shared.sessions.event_stream import event_objects
from shared.sessions.facts import SessionFacts

# JSON allows raw line breaks only between tokens, never inside a string. They are layout, and a
# line of a file cannot contain them.
_LINE_BREAKS = bytes.maketrans(b"\r\n", b"  ")


def stream(clickhouse: ClickHouse, org_id: str, facts: SessionFacts) -> Iterator[bytes]:
    """Yields one line per event, `{id, ts, event_type, payload}`, oldest first."""
    for event in event_objects(clickhouse, org_id, facts):
        yield event.translate(_LINE_BREAKS) + b"\n"
