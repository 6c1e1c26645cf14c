"""One page of the outline of a session."""

from collections.abc import Iterable, Sequence
from typing import Any

from shared.foundation.clickhouse.where import Where
from shared.foundation.core.clock import format_us
from shared.foundation.core.errors import NotFound
from shared.foundation.deployment.runtime import Runtime
from shared.reading.events.outline import rows, totals, watermark
from shared.reading.events.outline.query import OutlineQuery, cursor_of
from shared.reading.events.outline.rows import OutlineKey, OutlinePlace, OutlineRows
from shared.reading.events.outline.totals import Totals
from shared.reading.sessions import facts as session_facts
from shared.reading.sessions.facts import SessionFacts

NO_NAME = -1


def outline(runtime: Runtime, org_id: str, session_id: str, query: OutlineQuery) -> dict[str, Any]:
    """Returns the answer of the route.

    Raises `NotFound` for an unknown session, and for an `around` that no page holds.
    """
    clickhouse = runtime.clickhouse
    # The watermark comes first: an event that is stored meanwhile comes again, and is not missed.
    sure = watermark.stored_arrivals(runtime.redis, org_id)
    facts = session_facts.find(clickhouse, org_id, session_id)
    if facts is None:
        raise NotFound.named("session", session_id)
    matching = query.filters.where(org_id).between("ts", query.filters.ts_from, query.filters.ts_to)
    of_session = session_facts.events_of(org_id, facts)
    mark = watermark.advance(clickhouse, of_session, sure, query.since)
    where = _both(org_id, facts, matching)
    place, left = query.place, None
    if query.since is not None:
        found, left = rows.read_arrived(
            clickhouse, where, query.columns, mark.position, query.limit
        )
    else:
        if query.around is not None:
            place = rows.page_around(clickhouse, where, query.around, query.limit)
            if place is None:
                raise NotFound("there is no such event in this session, or the filters exclude it")
        found = rows.read(clickhouse, where, query.columns, place, query.limit)
    on_page = set(found.columns.get("agent", ()))
    counted = totals.read(clickhouse, of_session, matching, _ends(found, place), on_page)
    paged = query.since is None and len(found) > 0
    return {
        "session_id": session_id,
        "total": counted.total,
        "offset": counted.before,
        **_body(found, counted, query.columns, facts.started_at),
        "prev_cursor": cursor_of("before", found.key(0)) if paged and counted.before else None,
        "next_cursor": cursor_of("after", found.key(-1)) if paged and counted.after else None,
        "watermark": watermark.write(mark, left),
    }


def _both(org_id: str, facts: SessionFacts, matching: Where) -> Where:
    where = session_facts.events_of(org_id, facts)
    for condition in matching.added:
        where.add(condition)
    where.params.update(matching.params)
    return where


def _ends(found: OutlineRows, place: OutlinePlace | None) -> tuple[OutlineKey, OutlineKey]:
    """Returns the first and the last key of a page, of an empty one those of its place."""
    if len(found):
        return found.key(0), found.key(-1)
    edge = place.key if place is not None else OutlineKey(0, 0, 0)
    return edge, edge


def _body(
    found: OutlineRows, counted: Totals, names: Sequence[str], started_at: int
) -> dict[str, Any]:
    """Returns the fields of the page itself, with positions in lists for repeated texts."""
    columns = {name: found.columns[name] for name in names}
    base = found.columns["t"][0] if len(found) else started_at
    types: dict[str, int] = {}
    named: dict[str, int] = {}
    if len(columns) > 1:
        agents = {agent.agent_id: place for place, agent in enumerate(counted.agents)}
        columns["t"] = [at - base for at in columns["t"]]
        columns["type"] = _positions(columns["type"], types)
        columns["agent"] = _positions(columns["agent"], agents)
        columns["name"] = _positions(columns["name"], named)
    return {
        "base_ts": format_us(base),
        "agents": [agent._asdict() for agent in counted.agents],
        "types": list(types),
        "names": list(named),
        "columns": columns,
    }


def _positions(texts: Iterable[str], known: dict[str, int]) -> list[int]:
    """Returns the positions of texts in the order of `known`, which grows; '' has none."""
    return [known.setdefault(text, len(known)) if text else NO_NAME for text in texts]
