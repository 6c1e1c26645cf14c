"""The list of sessions: first the selection, then the facts of exactly those."""

from collections.abc import Sequence
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.cursor import Page, decode_cursor, encode_cursor
from shared.foundation.core.page_bytes import how_many_fit
from shared.reading.evaluations.latest import latest_of
from shared.reading.evaluations.reading import WeighedResult, complete
from shared.reading.evaluations.records import Evaluation
from shared.reading.sessions.facts import SessionFacts
from shared.reading.sessions.selection import SessionFilters, SessionPosition, select
from shared.reading.sessions.sorting import LAST_EVENT, SortPosition, check_sort, ranked
from shared.reading.sessions.totals import SessionTotals, totals_of


class ListedSession(NamedTuple):
    """A row of the list."""

    facts: SessionFacts
    totals: SessionTotals
    latest_evaluation: Evaluation | None


def page(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: SessionFilters,
    *,
    limit: int,
    cursor: str | None,
    ascending: bool = False,
    sort: str = LAST_EVENT,
) -> Page[ListedSession]:
    """Returns one page of at most `limit` sessions, newest last event first unless `ascending`.

    The page ends before `limit` if the sessions together would be larger than `MAX_PAGE_BYTES`.
    Raises `Invalid` for a foreign `cursor`, and for what `check_sort` and `ranked` refuse. Counts
    and sums come only from the events of the page's sessions, so the cost of a page by last event
    does not grow with the number of stored events.
    """
    check_sort(sort)
    selected: Sequence[tuple[SessionPosition | SortPosition, SessionFacts]]
    if sort == LAST_EVENT:
        after = None if cursor is None else decode_cursor(cursor, SessionPosition)
        found = select(
            clickhouse, org_id, wanted, limit=limit + 1, after=after, ascending=ascending
        )
        selected = [(_key_of(one), one) for one in found]
    else:
        selected = ranked(
            clickhouse, org_id, wanted, sort, limit=limit + 1, cursor=cursor, ascending=ascending
        )
    facts = {one.session_id: one for _, one in selected[:limit]}
    ids = list(facts)
    totals = totals_of(clickhouse, org_id, facts.values())
    since = min((one.started_at for one in facts.values()), default=0)
    latest = latest_of(clickhouse, org_id, ids, since=since)
    fit = how_many_fit([_weight(totals.get(one), latest.get(one)) for one in ids])
    results = complete(clickhouse, org_id, [latest[one] for one in ids[:fit] if one in latest])
    latest_of_session = {result.session_id: result for result in results.values()}
    # A session whose first events are being stored may be known before they are readable; it is
    # left out.
    sessions = [
        ListedSession(facts[one], totals[one], latest_of_session.get(one))
        for one in ids[:fit]
        if one in totals
    ]
    more = len(selected) > fit
    return Page(sessions, encode_cursor(selected[fit - 1][0]) if more else None)


def _weight(totals: SessionTotals | None, latest: WeighedResult | None) -> int:
    """Returns the approximate size of a session on a page, in bytes."""
    agents = () if totals is None else totals.agents
    result = 0 if latest is None else latest.weight
    # An agent has its name, a number, and the names of the fields.
    return result + sum(len(agent.agent_id) + 40 for agent in agents)


def _key_of(session: SessionFacts) -> SessionPosition:
    return SessionPosition(session.last_event_at, session.session_id)
