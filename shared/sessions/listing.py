"""The list of sessions: which ones, then what is known of exactly those."""

from typing import NamedTuple

from shared.clickhouse import ClickHouse
from shared.cursor import decode_cursor, encode_cursor
from shared.evaluations.latest import latest_of
from shared.evaluations.records import Evaluation
from shared.sessions.facts import SessionFacts, fetch
from shared.sessions.selection import SessionFilter, SessionKey, select
from shared.sessions.totals import SessionTotals, totals_of


class Session(NamedTuple):
    """A row of the list."""

    facts: SessionFacts
    totals: SessionTotals
    latest_evaluation: Evaluation | None


class SessionPage(NamedTuple):
    """Some sessions and the cursor of those after them, None on the last page."""

    sessions: list[Session]
    next_cursor: str | None


def page(
    clickhouse: ClickHouse, org_id: str, wanted: SessionFilter, *, limit: int, cursor: str | None
) -> SessionPage:
    """One page of at most `limit` sessions, newest last event first.

    Raises `Invalid` for a foreign `cursor`. Counts and sums are taken from the events of the page's
    sessions alone, so the cost of a page does not grow with the number of events kept.
    """
    after = None if cursor is None else decode_cursor(cursor, SessionKey)
    keys = select(clickhouse, org_id, wanted, limit=limit + 1, after=after)
    shown = [key.session_id for key in keys[:limit]]
    next_cursor = encode_cursor(keys[limit - 1]) if len(keys) > limit else None
    return SessionPage(_describe(clickhouse, org_id, shown), next_cursor)


def _describe(clickhouse: ClickHouse, org_id: str, session_ids: list[str]) -> list[Session]:
    facts = fetch(clickhouse, org_id, session_ids)
    totals = totals_of(clickhouse, org_id, facts.values())
    latest = latest_of(clickhouse, org_id, session_ids)
    # A session whose first events are being stored this moment may be known before they are
    # readable: it is not there yet. One that got events since it was selected has moved up.
    sessions = [
        Session(facts[session_id], totals[session_id], latest.get(session_id))
        for session_id in session_ids
        if session_id in totals
    ]
    return sorted(sessions, key=_newest_first, reverse=True)


def _newest_first(session: Session) -> tuple[int, str]:
    return session.facts.last_event_at, session.facts.session_id
