"""Aggregates of each group of the rows, in one statement however many groups there are.

The user and the version of an event without its own are those of its session. So rows are first
aggregated by session and own value, which leaves few, and these get the values of sessions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.foundation.clickhouse import ClickHouse, OverMemory
from shared.foundation.clickhouse.where import us
from shared.foundation.core.errors import QueryTimeout
from shared.foundation.core.logs import get_logger
from shared.foundation.core.text import storable
from shared.reading.dimensions.conditions import FIRST_USER, FIRST_VERSION
from shared.reading.dimensions.names import PREFIX
from shared.watch.alerts.evaluation.triggers.aggregates import (
    OVER_MEMORY,
    OVER_TIME,
    SETTINGS,
    Aggregate,
    Scan,
    scan,
)
from shared.watch.alerts.evaluation.triggers.interface import TooMuch

log = get_logger(__name__)

# A group is there if it has events: `m1` is their number.
HAS_EVENTS = "m1 > 0"
# More are refused: nobody looks at so many, and each takes memory here.
MOST_GROUPS = 100_000
_TOO_MANY = f"there are more than {MOST_GROUPS:,} groups: use a filter, or another group_by"
_OF_SESSION = {"user_id": FIRST_USER, "agent_version": FIRST_VERSION}

Values = Sequence[Any]


def read_groups(
    clickhouse: ClickHouse,
    org_id: str,
    by: str | None,
    wanted: Sequence[Aggregate],
    *,
    having: str,
    begins: Mapping[str, int] | None = None,
    params: Mapping[str, object] | None = None,
) -> dict[str, Values]:
    """Returns the values of the aggregates of each group by the field, all rows without one.

    `having` is a condition on the merged aggregates `m0`, `m1` and so on, with `params`. Of
    a group in `begins` only the rows from that moment on count (microseconds). Raises `Unavailable`
    and `TooMuch`.
    """
    part = scan(org_id, wanted, "State")
    rests = sorted(set((begins or {}).values()))
    age = (
        f"arrayCount(moment -> {us(wanted[0].rows.table.moment)} >= moment, {{rests:Array(Int64)}})"
    )
    keys = {"age": age} if rests else {}
    merged = merged_of(wanted)
    is_old_enough = "age >= transform(grp, {resting:Array(String)}, {ages:Array(Int64)}, 0)"
    sql = f"""
        SELECT grp, {", ".join(merged)} FROM ({by_group(by, part, keys)})
        {f"WHERE {is_old_enough}" if rests else ""}
        GROUP BY grp
        HAVING {having}
        LIMIT {MOST_GROUPS + 1}
    """
    bound = {**part.params, **(params or {}), **bound_by(by)}
    if begins:
        ages = [rests.index(moment) + 1 for moment in begins.values()]
        bound |= {"rests": rests, "resting": list(begins), "ages": ages}
    try:
        rows = clickhouse.rows(sql, bound, settings=SETTINGS)
    except (QueryTimeout, OverMemory) as error:
        reason = OVER_TIME if isinstance(error, QueryTimeout) else OVER_MEMORY
        log.warning("alert_statement_refused", org_id=org_id, group_by=by, reason=reason)
        raise TooMuch(reason) from error
    if len(rows) > MOST_GROUPS:
        raise TooMuch(_TOO_MANY)
    return {storable(group): values for group, *values in rows}


def merged_of(wanted: Sequence[Aggregate]) -> list[str]:
    """Returns the columns `m0`, `m1` and so on of the aggregates of states `a0`, `a1`."""
    return [
        f"{aggregate.combined('Merge')}(a{place}) AS m{place}"
        for place, aggregate in enumerate(wanted)
    ]


def by_group(by: str | None, part: Scan, keys: Mapping[str, str]) -> str:
    """Returns a SELECT of states with the columns `grp`, the keys, and `a0`, `a1` and so on.

    `keys` are names with their expressions on a row. Several rows may have the same group and keys.
    """
    named = [f"{sql} AS {name}" for name, sql in keys.items()]
    states = [f"{sql} AS a{place}" for place, sql in enumerate(part.columns)]
    places = [f"a{place}" for place in range(len(states))]
    of_session = _OF_SESSION.get(by or "")
    if of_session is None:
        columns = ", ".join([f"{_own(by)} AS grp", *named, *states])
        return f"SELECT {columns} {part.source} GROUP BY {', '.join(['grp', *keys])}"
    columns = ", ".join(["session_id", f"{_own(by)} AS own", *named, *states])
    own = f"SELECT {columns} {part.source} GROUP BY {', '.join(['session_id', 'own', *keys])}"
    sessions = part.source.replace(" FINAL", "")
    first = (
        f"SELECT session_id, {of_session} AS of_session FROM agent_sessions"
        f" WHERE org_id = {{org_id:String}} AND session_id IN (SELECT session_id {sessions})"
        " GROUP BY session_id"
    )
    values = ", ".join(["if(own != '', own, of_session) AS grp", *keys, *places])
    return f"SELECT {values} FROM ({own}) AS part LEFT JOIN ({first}) AS known USING session_id"


def bound_by(by: str | None) -> dict[str, object]:
    """Returns the parameters that `by_group` needs beside those of the scan."""
    if by is None or not by.startswith(PREFIX):
        return {}
    return {"group_key": by.removeprefix(PREFIX)}


def _own(by: str | None) -> str:
    """Returns the SQL of a row's own value, "" if it has none."""
    if by is None:
        return "''"
    if by.startswith(PREFIX):
        return "attributes[{group_key:String}]"
    return f"CAST(ifNull({by}, ''), 'String')"
