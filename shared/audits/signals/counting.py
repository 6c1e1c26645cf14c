"""SQL of signals that count events by name: names, what counts as failed, and what is cited.

An expression reads the table `events` and the view of that name alike, so that a signal and its
evidence query count the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

from shared.audits.signals import sql
from shared.audits.signals.interface import MAX_CITED, EvidenceQuery, Look
from shared.clickhouse import Row
from shared.clickhouse.where import Where, us

# A tool's name may be as long as its event. What is longer is known by its beginning.
_NAME_CHARS = 200
TOOL = f"leftUTF8(ifNull(CAST(tool_name, 'Nullable(String)'), ''), {_NAME_CHARS})"
ERROR_TYPE = f"leftUTF8(ifNull(CAST(error_type, 'Nullable(String)'), ''), {_NAME_CHARS})"


def names(values: Sequence[str]) -> list[str]:
    """Names as `TOOL` and `ERROR_TYPE` have them, which know no more than their beginnings."""
    return [value[:_NAME_CHARS] for value in values]


# Grouped by session, what is needed to cite some of them: the columns `first`, `last`, `newest`.
SEEN = f"""min({us("ts")}) AS first, max({us("ts")}) AS last,
        groupArraySorted({MAX_CITED})((-{us("ts")}, id)) AS newest"""
# The same of rows that have them, where those of one session are grouped once more.
SEEN_AGAIN = f"""min(first) AS first, max(last) AS last,
        groupArraySortedArray({MAX_CITED})(newest) AS newest"""
_LISTED = 100


class Cited(NamedTuple):
    """What a finding cites, newest first; moments in microseconds since the epoch."""

    sessions: int
    first: int
    last: int
    session_ids: tuple[str, ...]
    event_ids: tuple[int, ...]

    @classmethod
    def of(cls, row: Row) -> "Cited":
        """Reads the five columns that `cited` selects, the last of a row."""
        sessions, first, last, session_ids, event_ids = row[-5:]
        return cls(sessions, first, last, tuple(session_ids), tuple(event_ids))


def cited(condition: str = "true") -> str:
    """Selects `Cited` out of rows that have `SEEN`, of those that meet a condition.

    A session has one such row at most.
    """
    return f"""uniqExactIf(session_id, {condition}),
    minIf(first, {condition}), maxIf(last, {condition}),
    arrayMap(one -> one.2, groupArraySortedIf({MAX_CITED})((-last, session_id), {condition})),
    arrayMap(one -> one.2, groupArraySortedArrayIf({MAX_CITED})(newest, {condition}))"""


def is_failed(look: Look, where: Where) -> str:
    """SQL of: the event tells of a failure that the look counts; `where` gets the parameters."""
    if not look.ignore_error_types:
        return "is_error"
    where.params["ignored"] = list(look.ignore_error_types)
    return "(is_error AND ifNull(error_type, '') NOT IN {ignored:Array(String)})"


def is_failed_literal(look: Look) -> str:
    """What `is_failed` says, for an evidence query."""
    if not look.ignore_error_types:
        return "is_error"
    ignored = sql.is_one_of("ifNull(error_type, '')", look.ignore_error_types)
    return f"(is_error AND NOT ({ignored}))"


def listings(condition: str) -> tuple[EvidenceQuery, EvidenceQuery]:
    """What a finding about some events lists: their sessions, and the newest of them."""
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
