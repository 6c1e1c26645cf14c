"""SQL of signals that count events by name: names, the condition for a failure, and citations.

Each expression works on the table `events` and on the view of that name, so a signal and its
evidence query count the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

from shared.audits.signals import sql
from shared.audits.signals.interface import MAX_CITED, EvidenceQuery, Look
from shared.clickhouse import Row
from shared.clickhouse.where import Where, us

# A tool's name may be as long as its event. Longer names are recognized by their beginning.
_NAME_CHARS = 200
TOOL = f"leftUTF8(ifNull(CAST(tool_name, 'Nullable(String)'), ''), {_NAME_CHARS})"
ERROR_TYPE = f"leftUTF8(ifNull(CAST(error_type, 'Nullable(String)'), ''), {_NAME_CHARS})"


def names(values: Sequence[str]) -> list[str]:
    """Cuts names in the same way as `TOOL` and `ERROR_TYPE`."""
    return [value[:_NAME_CHARS] for value in values]


# The columns `first`, `last` and `newest`, grouped by session, from which sessions are cited.
SEEN = f"""min({us("ts")}) AS first, max({us("ts")}) AS last,
        groupArraySorted({MAX_CITED})((-{us("ts")}, id)) AS newest"""
# The same columns, from rows that have them, if rows of one session are grouped once more.
SEEN_AGAIN = f"""min(first) AS first, max(last) AS last,
        groupArraySortedArray({MAX_CITED})(newest) AS newest"""
_LISTED = 100


class Cited(NamedTuple):
    """The citations of a finding, newest first; moments in microseconds since the epoch."""

    sessions: int
    first: int
    last: int
    session_ids: tuple[str, ...]
    event_ids: tuple[int, ...]

    @classmethod
    def of(cls, row: Row) -> "Cited":
        """Reads the five columns that `cited` selects, which are the last of a row."""
        sessions, first, last, session_ids, event_ids = row[-5:]
        return cls(sessions, first, last, tuple(session_ids), tuple(event_ids))


def cited(condition: str = "true") -> str:
    """Selects `Cited` from rows that have `SEEN` and meet a condition.

    Each session has at most one such row.
    """
    return f"""uniqExactIf(session_id, {condition}),
    minIf(first, {condition}), maxIf(last, {condition}),
    arrayMap(one -> one.2, groupArraySortedIf({MAX_CITED})((-last, session_id), {condition})),
    arrayMap(one -> one.2, groupArraySortedArrayIf({MAX_CITED})(newest, {condition}))"""


def is_failed(look: Look, where: Where) -> str:
    """Returns the SQL condition that an event is a failure that counts.

    Adds parameters to `where`.
    """
    if not look.ignore_error_types:
        return "is_error"
    where.params["ignored"] = list(look.ignore_error_types)
    return "(is_error AND ifNull(error_type, '') NOT IN {ignored:Array(String)})"


def is_failed_literal(look: Look) -> str:
    """Returns the condition of `is_failed` with literals, for an evidence query."""
    if not look.ignore_error_types:
        return "is_error"
    ignored = sql.is_one_of("ifNull(error_type, '')", look.ignore_error_types)
    return f"(is_error AND NOT ({ignored}))"


def listings(condition: str) -> tuple[EvidenceQuery, EvidenceQuery]:
    """Returns the lists of a finding about events: their sessions, and the newest events."""
    return (
        EvidenceQuery(
            "The sessions, newest first",
            "SELECT session_id, count() AS events, min(ts) AS first_at, max(ts) AS last_at"
            f" FROM events WHERE {condition}"
            f" GROUP BY session_id ORDER BY last_at DESC, session_id LIMIT {_LISTED}",
        ),
        EvidenceQuery(
            "The events, newest first",
            "SELECT id, session_id, agent_id, environment, ts, event_type, tool_name"
            f" FROM events WHERE {condition} ORDER BY ts DESC, id LIMIT {_LISTED}",
        ),
    )
