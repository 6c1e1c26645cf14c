"""The events of one session in order, each as a line of JSON around its stored payload."""

from collections.abc import Iterator, Mapping

import msgspec

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import ORDER_BY, TABLE
from shared.foundation.clickhouse.where import moment, us
from shared.foundation.core.clock import format_us
from shared.reading.sessions.facts import SessionFacts, SessionKey, events_of

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

# The rows come in any order. The server sorts nothing, so it sends rows while it reads.
_EVENTS_OF_MANY = f"""
SELECT toString(org_id), session_id, ts_us, arrival, id, event_type, payload FROM (
    SELECT org_id, session_id, {us("ts")} AS ts_us, arrival, id, event_type, payload
    FROM {TABLE} FINAL
    PREWHERE {{where}}
)
SETTINGS do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_if_final_exact_mode = 0
"""

# One session of several; "#" is its number in the statement.
_OF_SESSION = (
    "(org_id = {org_id#:String} AND session_id = {session_id#:String}"
    f" AND ts >= {moment('start#')} AND ts < {moment('stop#')}"
    " AND arrival <= {revision#:UInt64})"
)

_ANY = 2**64 - 1

# The place of an event in the order of its session: time, arrival, id.
Place = tuple[int, int, int]

# JSON allows raw line breaks only between tokens, never inside a string. They are layout, and a
# line of a file cannot contain them.
_LINE_BREAKS = bytes.maketrans(b"\r\n", b"  ")


def event_objects(
    clickhouse: ClickHouse, org_id: str, facts: SessionFacts, revision: int | None = None
) -> Iterator[bytes]:
    """Yields one JSON object per event, `{id, ts, event_type, payload}`, oldest first.

    The payload is embedded byte for byte as it was stored, and therefore as it was sent. Events
    that arrived after `revision` are left out.
    """
    where = events_of(org_id, facts)
    if revision is not None:
        where.add("arrival <= {revision:UInt64}", revision=revision)
    for event_id, ts, event_type, payload in clickhouse.stream(
        _EVENTS.format(where=where), where.params
    ):
        yield _object(event_id, ts, event_type, payload)


def events_of_many(
    clickhouse: ClickHouse,
    sessions: Mapping[SessionKey, SessionFacts],
    until: Mapping[SessionKey, int],
) -> Iterator[tuple[SessionKey, Place, bytes]]:
    """Yields (session, place, JSON object) for each event of sessions of any organizations.

    Events of a session that arrived after its revision in `until` are left out. The events come in
    any order; in a session they are ordered by their places. Each session has
    its own bounds on time, so this reads no more granules than one read for each of them.
    """
    conditions: list[str] = []
    params: dict[str, object] = {}
    for number, (key, facts) in enumerate(sessions.items()):
        conditions.append(_OF_SESSION.replace("#", str(number)))
        params |= {
            f"org_id{number}": key.org_id,
            f"session_id{number}": key.session_id,
            f"start{number}": facts.started_at,
            f"stop{number}": facts.last_event_at + 1,
            f"revision{number}": until.get(key, _ANY),
        }
    where = " OR ".join(conditions)
    for org_id, session_id, ts, arrival, event_id, event_type, payload in clickhouse.stream(
        _EVENTS_OF_MANY.format(where=where), params
    ):
        event = _object(event_id, ts, event_type, payload)
        yield SessionKey(org_id, session_id), (ts, arrival, event_id), event


def _object(event_id: int, ts: int, event_type: str, payload: str) -> bytes:
    kind = msgspec.json.encode(event_type).decode()
    return (
        f'{{"id":{event_id},"ts":"{format_us(ts)}","event_type":{kind},"payload":{payload}}}'
    ).encode()


def export(clickhouse: ClickHouse, org_id: str, facts: SessionFacts) -> Iterator[bytes]:
    """Yields one line per event, `{id, ts, event_type, payload}`, oldest first."""
    for event in event_objects(clickhouse, org_id, facts):
        yield event.translate(_LINE_BREAKS) + b"\n"


def export_array(clickhouse: ClickHouse, org_id: str, facts: SessionFacts) -> Iterator[bytes]:
    """Yields one JSON array of the events, in pieces."""
    opening = b"["
    for event in event_objects(clickhouse, org_id, facts):
        yield opening + event
        opening = b","
    yield b"]" if opening == b"," else b"[]"
