"""What the calls of one session cost, by agent, model and provider."""

from typing import Any

import msgspec

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.reading.costs.figures import IS_CALL, MAY_BE_CALL, figure, from_row, sums
from shared.reading.sessions import facts as session_facts
from shared.reading.sessions.facts import SessionFacts

MAX_ROWS = 200
_KEYS = ("agent_id", "model", "provider")

_COSTS = f"""
SELECT {", ".join(f"CAST({name}, 'Nullable(String)') AS {name}_" for name in _KEYS)}, {sums("f")}
FROM {TABLE} FINAL
PREWHERE {{where}}
WHERE {IS_CALL}
GROUP BY {", ".join(f"{name}_" for name in _KEYS)}
ORDER BY {figure("f", "cost_usd")} DESC NULLS LAST, {figure("f", "calls")} DESC,
    {", ".join(f"{name}_ NULLS LAST" for name in _KEYS)}
LIMIT {MAX_ROWS}
"""


def costs_of(clickhouse: ClickHouse, org_id: str, facts: SessionFacts) -> list[dict[str, Any]]:
    """Returns the figures of a session's calls by agent, model and provider, the dearest first.

    At most 200; a model or a provider is None for calls without one.
    """
    where = session_facts.events_of(org_id, facts).add(MAY_BE_CALL)
    rows = clickhouse.rows(_COSTS.format(where=where), where.params, settings=SMALL_PAGE)
    return [
        {
            **dict(zip(_KEYS, row, strict=False)),
            **msgspec.structs.asdict(from_row(row[len(_KEYS) :], sessions=1)),
        }
        for row in rows
    ]
