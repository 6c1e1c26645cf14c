"""The statement of costs: calls, their groups, and the ranks of groups, in one pass over events.

Copies of an event may differ in columns that are written again later, such as its cost. Those are
filtered after `FINAL` has merged the copies, in WHERE, and never in PREWHERE.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.slices import TimeRange
from shared.foundation.clickhouse.where import Where, us
from shared.reading.costs import figures
from shared.reading.costs.figures import COLUMNS, IS_CALL, MAY_BE_CALL, figure, sums, sums_again
from shared.reading.costs.groups import SESSION, groups_of
from shared.reading.events.filters import EventFilters

# A sort → its value, the highest first. Groups without any cost come last.
SORTS = {
    "cost": f"ifNull({figure('g', 'cost_usd')}, -1)",
    "tokens": f"{figure('g', 'input_tokens')} + {figure('g', 'output_tokens')}",
    "calls": figure("g", "calls"),
}
MAX_SERIES = 10

# The kinds of rows.
TOTAL, GROUP, OTHER, SERIES = range(4)

_CALLS = f"""
SELECT {{columns}}
FROM {TABLE} FINAL
PREWHERE {{fixed}}
WHERE {{where}}
"""
# Sessions are far fewer than calls, so joins and sets of sessions take less after this.
_BY_SESSION = """
SELECT session_id, {values}, {sums}
FROM ({calls})
GROUP BY session_id, {names}
"""
# The calls of a session, once for each of their keys.
_KEYED = """
SELECT {keys}, c.session_id AS session_id, {columns}
FROM ({sessions}) AS c
{joins}
"""
_GROUPS = """
SELECT {keys}, {sums}, {seen} AS seen
FROM ({rows})
GROUP BY {by}
"""
# The same with a group's points in arrays.
_GROUPS_OVER_TIME = """
SELECT {keys}, {sums_again}, {seen_again} AS seen, groupArray((slot, {point})) AS points
FROM (
    SELECT {by}, slot, {sums}, {seen} AS seen
    FROM ({rows})
    GROUP BY {by}, slot
)
GROUP BY {by}
"""
_PLACE = "(isNull(key_1), ifNull(key_1, ''), isNull(key_2), ifNull(key_2, ''))"
_RANKED = f"""
SELECT *, {{past}} AS is_past,
    row_number() OVER (PARTITION BY is_past ORDER BY sorted DESC, {_PLACE}) AS place,
    row_number() OVER (ORDER BY {SORTS["cost"]} DESC, {_PLACE}) AS dearness
FROM (SELECT *, toDecimal128({{value}}, 12) AS sorted FROM ({{groups}}))
"""
# A group counts for the total, for the page or for what comes after it, and for its series.
_ANSWER = f"""
SELECT part.1 AS kind, part.2, any(key_1), any(key_2), any(toString(sorted)), {{sums}}, {{seen}},
    {{points}}
FROM (
    SELECT *, arrayJoin(arrayConcat(
        [({TOTAL}, 0)],
        multiIf(is_past, [], place <= {{{{limit:UInt32}}}}, [({GROUP}, place)], [({OTHER}, 0)]),
        if(dearness <= {MAX_SERIES} AND {{has_series}}, [({SERIES}, dearness)], [])
    )) AS part
    FROM ({{ranked}})
)
GROUP BY part
ORDER BY part
"""
_NO_KEY = "CAST(NULL, 'Nullable(String)')"
_READ = (SESSION, "ts", *COLUMNS)
# Of a bucket: calls, those without a cost, tokens, dollars.
_POINT = ", ".join(
    [
        *(figure("f", "calls"), figure("f", "unpriced_calls")),
        f"{figure('f', 'input_tokens')} + {figure('f', 'output_tokens')}",
        f"ifNull({figure('f', 'cost_usd')}, 0)",
    ]
)
# Only the total and series need them.
_POINTS = f"sumMapIf(points.1, points.2, points.3, points.4, points.5, kind IN ({TOTAL}, {SERIES}))"


class GroupPosition(NamedTuple):
    """The place of a group in a list: the value that it is sorted by, as text, and its keys."""

    value: str
    keys: tuple[str | None, ...]


class SumsQuestion(NamedTuple):
    """What to add up: calls of `span`, by `group_by`, in buckets that begin at `starts`."""

    filters: EventFilters
    span: TimeRange
    group_by: tuple[str, ...]
    starts: tuple[int, ...] = ()
    sort: str = "cost"
    limit: int = 0
    after: GroupPosition | None = None


class SumsRow(NamedTuple):
    """The figures of all calls, of a group, of further groups, or of a group with its points.

    `points` are the starts of buckets with calls, and for each of these the calls, those without a
    cost, the tokens and the dollars.
    """

    kind: int
    position: GroupPosition
    figures: figures.CallSums
    points: Sequence[Sequence[Any]]


def read_sums(clickhouse: ClickHouse, org_id: str, asked: SumsQuestion) -> list[SumsRow]:
    """Returns the rows of an answer, exact also while copies of events are not merged.

    Raises `QueryTimeout` after 20 s.
    """
    where = asked.filters.where(org_id).add(IS_CALL)
    sql = _statement(asked, where)
    width = len(figures.NAMES)
    return [
        SumsRow(
            kind,
            GroupPosition(value, (key_1, key_2)[: len(asked.group_by)]),
            figures.from_row(rest[:width], rest[width]),
            rest[width + 1],
        )
        for kind, _, key_1, key_2, value, *rest in clickhouse.rows(sql, where.params, settings=PAGE)
    ]


def calls_sql(where: Where, span: TimeRange, columns: Sequence[str]) -> str:
    """Returns a SELECT of the calls that meet `where`, and adds its parameters there."""
    fixed = Where(str(where.params["org_id"])).within("ts", span.start, span.stop).add(MAY_BE_CALL)
    where.params.update(fixed.params)
    return _CALLS.format(columns=", ".join(columns), fixed=fixed, where=where)


def _statement(asked: SumsQuestion, where: Where) -> str:
    """Returns the statement; adds its parameters to `where`."""
    by_session = asked.group_by.index(SESSION) + 1 if SESSION in asked.group_by else 0
    groups = _groups(asked, _keyed(asked, where), by_session)
    ranked = _RANKED.format(past=_past(asked, where), value=SORTS[asked.sort], groups=groups)
    where.params["limit"] = asked.limit
    return _ANSWER.format(
        sums=sums_again("g", "t"),
        seen=f"uniqExact(key_{by_session})" if by_session else "uniqExactMerge(seen)",
        points=_POINTS if asked.starts else "[]",
        has_series="true" if asked.starts and asked.group_by else "false",
        ranked=ranked,
    )


def _keyed(asked: SumsQuestion, where: Where) -> str:
    """Returns SQL of the calls of each session with their keys, at least one."""
    grouped = groups_of(asked.group_by, where)
    sessions = _BY_SESSION.format(
        values=", ".join((f"{_slot(asked, where)} AS slot", *grouped.own)),
        sums=sums("e"),
        calls=calls_sql(where, asked.span, list({*_READ, *grouped.columns})),
        names=", ".join(("slot", *(one.rpartition(" ")[2] for one in grouped.own))),
    )
    keys = grouped.keys or (_NO_KEY,)
    return _KEYED.format(
        keys=", ".join(f"{key} AS key_{place}" for place, key in enumerate(keys, 1)),
        columns=", ".join(("slot", *(f"e{place}" for place in range(len(figures.NAMES))))),
        sessions=sessions,
        joins=grouped.joins,
    )


def _groups(asked: SumsQuestion, rows: str, by_session: int) -> str:
    # A group of a session needs no set of sessions.
    seen, again = ("0", "0") if by_session else ("uniqExactState(session_id)", "")
    is_double = len(asked.group_by) > 1
    by = {"by": "key_1, key_2" if is_double else "key_1", "rows": rows}
    by["keys"] = by["by"] if is_double else f"key_1, {_NO_KEY} AS key_2"
    if not asked.starts:
        return _GROUPS.format(**by, sums=sums_again("e", "g"), seen=seen)
    return _GROUPS_OVER_TIME.format(
        **by,
        sums=sums_again("e", "f"),
        sums_again=sums_again("f", "g"),
        seen=seen,
        seen_again=again or "uniqExactMergeState(seen)",
        point=_POINT,
    )


def _slot(asked: SumsQuestion, where: Where) -> str:
    if not asked.starts:
        return "0"
    where.params["starts"] = list(asked.starts)
    return f"roundDown({us('ts')}, {{starts:Array(Int64)}})"


def _past(asked: SumsQuestion, where: Where) -> str:
    """Returns the condition for groups of earlier pages; adds its parameters to `where`."""
    if asked.after is None:
        return "false"
    value, keys = asked.after
    where.params["after_value"] = value
    place = []
    for number in range(2):
        key = keys[number] if number < len(keys) else None
        where.params[f"after_{number}"] = key or ""
        place.append(f"{int(key is None)}, {{after_{number}:String}}")
    bound = "toDecimal128({after_value:String}, 12)"
    return f"sorted > {bound} OR sorted = {bound} AND {_PLACE} <= ({', '.join(place)})"
