"""Citations of findings: the sessions and the events that show a pattern.

A signal that groups events by name selects its citations in the same statement (`SEEN` and
`citations`). A signal that compares numbers reads them in another one (`cited`, `cited_sessions`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.foundation.clickhouse import Row
from shared.foundation.clickhouse.rewriting import merged
from shared.foundation.clickhouse.where import Where, us
from shared.foundation.core.clock import from_us
from shared.watch.audits.signals.interface import MAX_CITED, Look
from shared.watch.audits.signals.reading import rows, with_before

# The columns `first`, `last` and `newest`, grouped by session, from which sessions are cited.
SEEN = f"""min({us("ts")}) AS first, max({us("ts")}) AS last,
        groupArraySorted({MAX_CITED})((-{us("ts")}, id)) AS newest"""
# The same columns, from rows that have them, if rows of one session are grouped once more.
SEEN_AGAIN = f"""min(first) AS first, max(last) AS last,
        groupArraySortedArray({MAX_CITED})(newest) AS newest"""
# The column `newest` of sessions whose events are read separately.
NO_EVENTS = "CAST([], 'Array(Tuple(Int64, UInt64))') AS newest"

_SESSIONS = f"""
SELECT count(), min(first), max(last), groupArraySorted({MAX_CITED})((-last, session_id))
FROM ({{sessions}})
"""
_OF_EVENTS = f"""
    SELECT session_id, min({us("ts")}) AS first, max({us("ts")}) AS last
    FROM events {{merged}}
    GROUP BY session_id
"""
_EVENTS = f"""
SELECT id FROM events {{merged}}
ORDER BY ts DESC, arrival DESC, id DESC LIMIT {MAX_CITED}
"""
_LAST_EVENTS = """
SELECT id FROM events FINAL PREWHERE {where}
ORDER BY ts DESC, arrival DESC, id DESC LIMIT 1 BY session_id
"""


class FindingCitations(NamedTuple):
    """The citations of a finding, newest first: fields of `Candidate`."""

    affected_sessions: int
    first_seen_at: datetime
    last_seen_at: datetime
    session_ids: tuple[str, ...]
    event_ids: tuple[int, ...]

    @classmethod
    def of(cls, row: Row) -> "FindingCitations":
        """Reads the five columns that `citations` selects, which are the last of a row."""
        sessions, first, last, session_ids, event_ids = row[-5:]
        return cls(sessions, from_us(first), from_us(last), tuple(session_ids), tuple(event_ids))

    def later(self, by: timedelta) -> "FindingCitations":
        """Returns the same citations, of a pattern that is seen only some time after its rows."""
        return self._replace(
            first_seen_at=self.first_seen_at + by, last_seen_at=self.last_seen_at + by
        )


def citations(condition: str = "true") -> str:
    """Selects `FindingCitations` from rows that have `SEEN` and meet a condition.

    Each session has at most one such row.
    """
    return f"""uniqExactIf(session_id, {condition}),
    minIf(first, {condition}), maxIf(last, {condition}),
    arrayMap(one -> one.2, groupArraySortedIf({MAX_CITED})((-last, session_id), {condition})),
    arrayMap(one -> one.2, groupArraySortedArrayIf({MAX_CITED})(newest, {condition}))"""


def cited(look: Look, where: Where) -> FindingCitations | None:
    """Returns the citations of a finding about the events of `where`, None if there are none."""
    found = cited_sessions(look, _OF_EVENTS.format(merged=merged(where)), where.params)
    return found and found._replace(event_ids=newest_events(look, where))


def cited_sessions(
    look: Look, sessions: str, params: Mapping[str, object]
) -> FindingCitations | None:
    """Returns the citations of a finding about sessions, None if there are none.

    `sessions` selects `session_id`, `first` and `last`, one row each. The caller adds events.
    """
    [(count, first, last, newest)] = rows(look, _SESSIONS.format(sessions=sessions), params)
    if not count:
        return None
    session_ids = tuple(session_id for _, session_id in newest)
    return FindingCitations(count, from_us(first), from_us(last), session_ids, ())


def newest_events(look: Look, where: Where) -> tuple[int, ...]:
    """Returns the ids of the newest events of `where`."""
    found = rows(look, _EVENTS.format(merged=merged(where)), where.params)
    return tuple(event_id for (event_id,) in found)


def last_events(look: Look, session_ids: Sequence[str]) -> tuple[int, ...]:
    """Returns the id of the last event of each session, if both windows contain one."""
    window = with_before(look)
    where = Where(look.org_id).between("ts", window.start, window.stop)
    where.any_of("session_id", session_ids)
    found = rows(look, _LAST_EVENTS.format(where=where), where.params)
    return tuple(event_id for (event_id,) in found)
