"""The events of one session in order, each as a line of JSON around its stored payload."""

from collections.abc import Iterator

import msgspec

from shared.clickhouse import ClickHouse
from shared.clickhouse.event_columns import ORDER_BY, TABLE
from shared.clickhouse.where import Where, us
from shared.core.clock import format_us
from shared.sessions.facts import SessionFacts

# FINAL leaves one row per key, and a key never spans partitions because it contains the timestamp.
# The order follows the sorting key, so the server merges and sends while it reads and keeps no
# session in memory: 200 events of 1 MiB took 12 MiB here.
_EVENTS = f"""
SELECT id, {us("ts")}, event_type, payload
FROM {TABLE} FINAL
PREWHERE {{where}}
ORDER BY {ORDER_BY}
SETTINGS do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_if_final_exact_mode = 0
"""
# JSON allows raw line breaks only between tokens, never inside a string. They are layout, and a
# line of a file cannot contain them.
_LINE_BREAKS = bytes.maketrans(b"\r\n", b"  ")


def event_objects(clickhouse: ClickHouse, org_id: str, facts: SessionFacts) -> Iterator[bytes]:
    """Yields one JSON object per event, `{id, ts, event_type, payload}`, oldest first.

    The payload is embedded byte for byte as it was stored, and therefore as it was sent. Thanks to
    the bounds on time this reads only the granules of one session.
    """
    where = Where(org_id).add("session_id = {session_id:String}", session_id=facts.session_id)
    where.within("ts", facts.started_at, facts.last_event_at + 1)
    for event_id, ts, event_type, payload in clickhouse.stream(
        _EVENTS.format(where=where), where.params
    ):
        kind = msgspec.json.encode(event_type).decode()
        yield (
            f'{{"id":{event_id},"ts":"{format_us(ts)}","event_type":{kind},"payload":{payload}}}'
        ).encode()


def export(clickhouse: ClickHouse, org_id: str, facts: SessionFacts) -> Iterator[bytes]:
    """Yields one line per event, `{id, ts, event_type, payload}`, oldest first."""
    for event in event_objects(clickhouse, org_id, facts):
        yield event.translate(_LINE_BREAKS) + b"\n"
