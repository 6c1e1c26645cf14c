"""The agents of a session, and how many events lie before and after a page of its outline."""

from collections.abc import Collection
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.event_columns import ORDER_KEY, TABLE
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import Where, moment
from shared.reading.events.outline.rows import OutlineKey

# Agents of one answer, besides those of its page.
MAX_AGENTS = 50_000


class Agent(NamedTuple):
    """An agent of a session; `parent` is its place in the list of agents."""

    agent_id: str
    parent: int | None
    event_count: int


class Totals(NamedTuple):
    """The agents by their first event, and the numbers of events that match the filters."""

    agents: list[Agent]
    total: int
    before: int
    after: int


# One pass over the session, so that all numbers are of one moment.
_TOTALS = f"""
SELECT agent_id, own, parent,
    sum(matching) OVER (), sum(earlier) OVER (), sum(later) OVER ()
FROM (
    SELECT agent_id, count() AS own, min({ORDER_KEY}) AS first_key,
        argMinIf(ifNull(parent_id, ''), {ORDER_KEY}, event_type = 'agent_start') AS parent,
        countIf(is_matching) AS matching,
        countIf(is_matching AND {ORDER_KEY} < {{first}}) AS earlier,
        countIf(is_matching AND {ORDER_KEY} > {{last}}) AS later
    FROM (
        SELECT agent_id, event_type, parent_id, ts, arrival, id, {{matching}} AS is_matching
        FROM {TABLE} FINAL PREWHERE {{where}}
    )
    GROUP BY agent_id
)
ORDER BY first_key
LIMIT {MAX_AGENTS}
"""


def read(
    clickhouse: ClickHouse,
    of_session: Where,
    matching: Where,
    page: tuple[OutlineKey, OutlineKey],
    on_page: Collection[str],
) -> Totals:
    """Reads the totals around a page from its first key to its last one.

    `of_session` is the condition for all events of the session, and `matching` has those of the
    filters. Agents `on_page` are in the list, however many the session has.
    """
    rows = _rows(clickhouse, of_session, matching, page)
    total, before, after = rows[0][3:] if rows else (0, 0, 0)
    if missing := _missing(rows, on_page):
        rows += _rows(clickhouse, of_session.any_of("agent_id", missing), matching, page)
    # The events of these were deleted since the page was read.
    rows += [(name, 0, "") for name in _missing(rows, on_page)]
    return Totals(_agents(rows), total, before, after)


def _missing(rows: list[Row], on_page: Collection[str]) -> list[str]:
    known = {row[0] for row in rows}
    return [name for name in on_page if name not in known]


def _rows(
    clickhouse: ClickHouse, of_session: Where, matching: Where, page: tuple[OutlineKey, OutlineKey]
) -> list[Row]:
    params = {**matching.params, **of_session.params}
    bounds = {}
    for name, key in zip(("first", "last"), page, strict=True):
        params |= {f"{name}_ts": key.ts, f"{name}_arrival": key.arrival, f"{name}_id": key.id}
        bounds[name] = f"({moment(f'{name}_ts')}, {{{name}_arrival:UInt64}}, {{{name}_id:UInt64}})"
    sql = _TOTALS.format(
        matching=" AND ".join(matching.added) or "true", where=of_session, **bounds
    )
    return clickhouse.rows(sql, params, settings=SMALL_PAGE)


def _agents(rows: list[Row]) -> list[Agent]:
    places = {row[0]: place for place, row in enumerate(rows)}
    agents = []
    for name, own, parent, *_ in rows:
        # An agent that names itself has no parent: a tree of agents would have no root.
        agents.append(Agent(name, places.get(parent) if parent != name else None, own))
    return agents
