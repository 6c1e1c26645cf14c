"""SQL that pairs events in one pass, for ranges in which one column decides alone.

Nearly always each event has a value in one column, such as the id of the tool's call, and each
value has at most one start and one close in its session. Then a pair is a group. The order of
events is not needed, and FINAL only for columns in which copies of an event may differ: else any
copy will do. The statement itself finds out whether this holds (`is_odd`). If it does not,
`shared.reading.events.latency.pairing` has to pair them.
"""

from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.rewriting import may_change
from shared.foundation.clickhouse.where import Where, us
from shared.reading.events.families import NAMED
from shared.reading.events.latency.conditions import MAX_NAME_BYTES, NONE, OUTCOMES, met_bits
from shared.reading.events.latency.paths import COLUMNS, first_of, value_of
from shared.reading.events.latency.query import LatencyQuery

# The column with the key of well-known events, by the type of the start.
_USUAL_KEYS = {family.start: family.key for family in NAMED}

# `event` is the same for copies of an event, another one for other events, and never 0.
_EVENTS = f"""
SELECT cityHash64(session_id, {{key}} AS value) AS pair, {{is_unfit}} AS is_unfit,
    event_type = {{{{end_type:String}}}} AS is_end, {us("ts")} AS at,
    id, greatest(cityHash64(at, id), 1) AS event, is_error, duration_ms, {{fields}}
    {{met}} AS met, {{place}} AS place, {{name}} AS name
FROM {TABLE} {{final}}
WHERE {{where}}
"""

_GROUPS = f"""
SELECT
    minIf(event, NOT is_end) AS opening, minIf(event, is_end) AS closing,
    max(is_unfit) OR maxIf(event, NOT is_end) != opening OR maxIf(event, is_end) != closing
        AS is_odd,
    maxIf(at, NOT is_end) AS started, maxIf(at, is_end) AS ended, maxIf(is_error, is_end) AS failed,
    ifNull(toFloat64(maxIf(duration_ms, is_end)), greatest(ended - started, 0) / 1000) AS latency,
    if(min(place) > {{path_count}}, '{NONE}', argMin(name, place * 2 + NOT is_end)) AS pair_name,
    maxIf(id, NOT is_end) AS start_id, {{fields}} groupBitOr(met) = {{all_met}} AS is_met
FROM ({{events}})
GROUP BY pair
"""

_PAIRS = """
SELECT started, start_id, latency, failed, pair_name AS name, is_odd, {fields}
    is_met AND opening != 0 AND started >= {start} AND started < {stop} AS start_counts,
    is_met AND closing != 0 AND ended >= {start} AND ended < {stop} AS end_counts,
    start_counts AND closing = 0 AS lone_counts,
    start_counts AND closing != 0 AND {outcome} AS counts
FROM ({groups})
"""


def usual_key(query: LatencyQuery) -> str | None:
    """Returns the column that pairs well-known events, None for other types and paths."""
    key = _USUAL_KEYS.get(query.start_type)
    return key if key in query.pair_paths and COLUMNS.issuperset(_before(key, query)) else None


def linked_sql(query: LatencyQuery, key: str, where: Where) -> str:
    """Returns a SELECT of the pairs of the events of `where`, by the column `key`.

    Adds the bound parameters to `where`. If the column does not decide alone, `is_odd` is true in
    some row.
    """
    place, name = first_of(query.distribution_paths, where, MAX_NAME_BYTES)
    met, all_met = met_bits(query, where)
    earlier = [f"{value_of(path, where)} != ''" for path in _before(key, query)]
    fields = "".join(f"{one}, " for one in query.summed if one != "duration_ms")
    events = _EVENTS.format(
        key=value_of(key, where),
        is_unfit=" OR ".join(["empty(value)", *earlier]),
        fields=fields,
        met=met,
        place=place,
        name=name,
        final="FINAL" if may_change(fields + met) else "",
        where=where,
    )
    groups = _GROUPS.format(
        events=events,
        path_count=len(query.distribution_paths),
        all_met=all_met,
        fields="".join(f"ifNull(maxIf({one}, is_end), 0) AS sum_{one}, " for one in query.summed),
    )
    return _PAIRS.format(
        groups=groups,
        fields="".join(f"sum_{one}, " for one in query.summed),
        start=query.start,
        stop=query.stop,
        outcome=OUTCOMES[query.outcome],
    )


def _before(key: str, query: LatencyQuery) -> tuple[str, ...]:
    """Returns the paths that come before the key: no event may have a value there."""
    return query.pair_paths[: query.pair_paths.index(key)]
