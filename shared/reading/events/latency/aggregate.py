"""The latency aggregate: one statement over the pairs, and the response built from its rows."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.where import Where
from shared.foundation.core.clock import format_us
from shared.reading.events.latency.keys import find_keys
from shared.reading.events.latency.linked import linked_sql, usual_key
from shared.reading.events.latency.pairing import pairs_sql
from shared.reading.events.latency.query import DAY_US, HOUR_US, LatencyQuery
from shared.reading.events.latency.settings import LATENCY

# 13 edges of 12 bands, two per power of ten: a millisecond to a quarter of an hour.
EDGES_MS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
OTHER = "(other)"
NO_EVENTS = {"start": 0, "end": 0, "unpaired_start": 0}

_LEVELS = {"p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
_FIGURES = ("count", "error_count", *_LEVELS, "max")
_SHORT = ("count", "error_count", "p50", "p95", "p99", "max")

# The kinds of groups.
_ALL, _OF_BIN, _OF_NAME, _OF_BAND = range(4)

# One row each for all pairs, for each bin, for each place among the names (those after the last one
# share a place), and for each band of a bin: each pair is in four groups, whose numbers tell the
# kind in the last two bits. GROUPING SETS took a sixth of the time of a day, most of it to plan. A
# name keeps its pairs in arrays, so that only names have to be ranked. A name without pairs has one
# row of number 0, with its events and in no bin.
_AGGREGATE = f"""
SELECT group, countIf(number > 0), sum(failure),
    quantilesExactInclusiveIf({", ".join(map(str, _LEVELS.values()))})(latency, number > 0),
    max(latency), any(name), sumForEachIf(counted, number <= 1), max(has_odd)
FROM (
SELECT name, counted, has_odd, latency, failure, number,
    toInt64(greatest(-1,
        intDiv(({{integer}}(time) - {{start}}) * {{bin_count}}, {{stop}} - {{start}}))) AS bin,
    toInt64(roundDown(latency, {list(map(float, EDGES_MS[:-1]))})) AS edge,
    arrayJoin([toInt64({_ALL}), bin * 4 + {_OF_BIN},
        toInt64(least(rank, {{names}} + 1)) * 4 + {_OF_NAME},
        (bin * {EDGES_MS[-1]} + edge) * 4 + {_OF_BAND}]) AS group
FROM (
SELECT *, row_number() OVER (ORDER BY {{names_by}} DESC, name) AS rank
FROM (
SELECT name, groupArrayIf(started, counts) AS times, groupArrayIf(latency, counts) AS latencies,
    groupArrayIf(failed, counts) AS failures, max(is_odd) AS has_odd,
    [countIf(start_counts), countIf(end_counts), countIf(lone_counts) {{sums}}] AS counted
FROM ({{pairs}})
GROUP BY name
))
LEFT ARRAY JOIN times AS time, latencies AS latency, failures AS failure,
    arrayEnumerate(times) AS number
)
GROUP BY group
"""
# The figure that ranks a name, from its arrays.
_RANKS = {
    "count": "length(latencies)",
    "error_count": "arraySum(failures)",
    "max": "arrayMax(latencies)",
    **{
        name: f"arrayReduce('quantileExactInclusive({_LEVELS[name]})', latencies)"
        for name in ("p50", "p95", "p99")
    },
}
_COUNT, _NAME, _COUNTED, _HAS_ODD = 1, 5, 6, 7


def latency_aggregate(clickhouse: ClickHouse, org_id: str, query: LatencyQuery) -> dict[str, Any]:
    """Returns the response of the route; latencies are milliseconds, times RFC 3339.

    Band n of the heatmap contains EDGES_MS[n] ≤ latency < EDGES_MS[n + 1]; the first also contains
    shorter and the last longer ones. Raises `QueryTimeout` after 20 s.
    """
    rows = _rows(clickhouse, org_id, query)
    kinds: tuple[dict[int, Row], ...] = ({}, {}, {}, {})
    for row in rows:
        number, kind = divmod(row[0], len(kinds))
        kinds[kind][number] = row
    whole, by_bin, by_place, by_band = kinds
    bins = range(query.bin_count)
    counted = whole[0][_COUNTED] if whole else []
    summed = dict(zip(query.summed, counted[len(NO_EVENTS) :], strict=False))
    return {
        "bounds": {
            "from": format_us(query.start),
            "to": format_us(query.stop),
            "bin_ms": _bin_ms(query),
        },
        "bins": [
            {"ts": format_us(_begin(query, number)), **_figures(by_bin.get(number), _FIGURES)}
            for number in bins
        ],
        "heatmap": {
            "edges_ms": list(EDGES_MS),
            "counts": [
                [_count(by_band.get(one * EDGES_MS[-1] + edge)) for edge in EDGES_MS[:-1]]
                for one in bins
            ],
        },
        "summary": _figures(whole.get(0), _SHORT),
        "events": {**NO_EVENTS, **dict(zip(NO_EVENTS, counted, strict=False))},
        "sums": {name: summed.get(field, 0) for name, field in query.sums.items()},
        "distribution": [
            {"key": row[_NAME] if place <= query.names else OTHER, **_figures(row, _SHORT)}
            for place, row in sorted(by_place.items())
            if row[_COUNT]
        ],
    }


def _rows(clickhouse: ClickHouse, org_id: str, query: LatencyQuery) -> list[Row]:
    """Returns the rows of the statement, by one pass over the events if one column is their key."""

    def ask(where: Where, pairs: str) -> list[Row]:
        return _aggregate(clickhouse, query, where, pairs)

    return of_pairs(clickhouse, org_id, query, ask, lambda row: row[_HAS_ODD])


def of_pairs(
    clickhouse: ClickHouse,
    org_id: str,
    query: LatencyQuery,
    ask: Callable[[Where, str], list[Row]],
    is_odd: Callable[[Row], bool],
) -> list[Row]:
    """Returns the rows of a statement over the SELECT of all pairs.

    `ask` runs it. If `is_odd` of a row, the first SELECT could not pair the events, and `ask` runs
    again with one that can.
    """
    where = _where(org_id, query)
    key, keys = usual_key(query), None
    if key is None:
        keys = find_keys(clickhouse, where, query.pair_paths)
        key = keys.paths[0] if keys.certain else None
    if key is not None:
        rows = ask(where, linked_sql(query, key, where))
        if not any(map(is_odd, rows)):
            return rows
    keys = keys or find_keys(clickhouse, where, query.pair_paths)
    return [] if keys.empty else ask(where, pairs_sql(query, keys, where))


def _where(org_id: str, query: LatencyQuery) -> Where:
    where = Where(org_id).any_of("session_id", query.filters.session_ids)
    where.add(
        "event_type IN ({start_type:String}, {end_type:String})",
        start_type=query.start_type,
        end_type=query.end_type,
    )
    return where.within("ts", query.start - HOUR_US, query.stop + DAY_US)


def _aggregate(clickhouse: ClickHouse, query: LatencyQuery, where: Where, pairs: str) -> list[Row]:
    fits = (query.stop - query.start) * query.bin_count < 2**63
    sql = _AGGREGATE.format(
        pairs=pairs,
        start=query.start,
        stop=query.stop,
        bin_count=query.bin_count,
        names=query.names,
        names_by=_RANKS[query.names_by],
        integer="toInt64" if fits else "toInt128",
        sums="".join(f", sumIf(sum_{one}, counts)" for one in query.summed),
    )
    return clickhouse.rows(sql, where.params, settings=LATENCY)


def _figures(row: Row | None, names: Iterable[str]) -> dict[str, object]:
    """Returns counts and quantiles of a row of the statement; without pairs zeros and nulls."""
    if row is None or not row[_COUNT]:
        return {name: 0 if name.endswith("count") else None for name in names}
    _, count, failures, quantiles, longest, *_ = row
    values: Sequence[object] = (count, failures, *quantiles, longest)
    found = dict(zip(_FIGURES, values, strict=True))
    return {name: found[name] for name in names}


def _count(row: Row | None) -> int:
    return 0 if row is None else int(row[_COUNT])


def _bin_ms(query: LatencyQuery) -> float:
    width = (query.stop - query.start) / (query.bin_count * 1000)
    return int(width) if width.is_integer() else width


def _begin(query: LatencyQuery, number: int) -> int:
    """Returns the first microsecond of the bin."""
    return query.start - (query.start - query.stop) * number // query.bin_count
