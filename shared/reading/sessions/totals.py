"""Counts and sums over the events of some sessions, exact even if events are stored twice."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.event_columns import ORDER_KEY, TABLE
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import Where
from shared.reading.sessions.facts import SessionFacts


class AgentCount(NamedTuple):
    """The number of a session's events by one agent."""

    agent_id: str
    event_count: int


class SessionTotals(NamedTuple):
    """The totals of a session's events; `agents` is ordered by events, descending, then by name.

    `outcome` and `failed` are those of the root agent's last agent_end.
    """

    agents: tuple[AgentCount, ...]
    event_count: int
    error_count: int
    input_tokens: int
    output_tokens: int
    first_event_id: int
    last_event_id: int
    outcome: str | None
    failed: bool


# One row per agent of a session.
_TOTALS = f"""
SELECT
    session_id,
    agent_id,
    count(),
    countIf(is_error),
    sum(coalesce(input_tokens, 0)),
    sum(coalesce(output_tokens, 0)),
    min({ORDER_KEY}),
    max({ORDER_KEY}),
    argMaxIf(
        (CAST(outcome, 'Nullable(String)'), is_error), {ORDER_KEY}, event_type = 'agent_end'
    )
FROM {TABLE} FINAL
PREWHERE {{where}}
GROUP BY session_id, agent_id
ORDER BY session_id, count() DESC, agent_id
"""


def totals_of(
    clickhouse: ClickHouse, org_id: str, sessions: Collection[SessionFacts]
) -> dict[str, SessionTotals]:
    """Returns the totals of each of `sessions` that has events, by session id.

    Reads one range over all of them. On 4 million events this is fastest even if one session spans
    the whole table (40 ms; a range per session, joined by OR: 140 ms), because the filter on the
    session leaves few granules. With short sessions it takes 6 ms.
    """
    if not sessions:
        return {}
    where = Where(org_id).any_of("session_id", [facts.session_id for facts in sessions])
    where.within(
        "ts",
        min(facts.started_at for facts in sessions),
        max(facts.last_event_at for facts in sessions) + 1,
    )
    by_session: dict[str, list[Row]] = {}
    for row in clickhouse.rows(_TOTALS.format(where=where), where.params, settings=SMALL_PAGE):
        by_session.setdefault(row[0], []).append(row)
    roots = {facts.session_id: facts.agent_id for facts in sessions}
    return {name: _add_up(rows, roots[name]) for name, rows in by_session.items()}


def _add_up(rows: Iterable[Row], root: str) -> SessionTotals:
    _, agents, counts, errors, inputs, outputs, firsts, lasts, ends = zip(*rows, strict=True)
    outcome, failed = dict(zip(agents, ends, strict=True)).get(root, (None, False))
    return SessionTotals(
        agents=tuple(map(AgentCount, agents, counts)),
        event_count=sum(counts),
        error_count=sum(errors),
        input_tokens=sum(inputs),
        output_tokens=sum(outputs),
        first_event_id=min(firsts)[2],
        last_event_id=max(lasts)[2],
        outcome=outcome,
        failed=failed,
    )
