"""The export of a session as JSON lines."""

from collections.abc import Iterator

from shared.clickhouse import ClickHouse
from shared.sessions.event_stream import event_objects
from shared.sessions.facts import SessionFacts

# JSON allows raw line breaks between tokens only, never inside a string, so what an event was sent
# with there is layout; as a line of its own file it must do without.
_LINE_BREAKS = bytes.maketrans(b"\r\n", b"  ")


def stream(clickhouse: ClickHouse, org_id: str, facts: SessionFacts) -> Iterator[bytes]:
    """One line an event, `{id, ts, event_type, payload}`, oldest first."""
    for event in event_objects(clickhouse, org_id, facts):
        yield event.translate(_LINE_BREAKS) + b"\n"
