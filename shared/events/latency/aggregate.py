"""The latency aggregate: one statement over the pairs, and the response built from its rows."""

from collections.abc import Iterable, Sequence
from typing import Any

from shared.clickhouse import ClickHouse, Row
from shared.clickhouse.where import Where
from shared.core.clock import format_us
from shared.events.latency.keys import find_keys
from shared.events.latency.pairing import LONE_END, LONE_START, PAIR, pairs_sql
from shared.events.latency.query import DAY_US, HOUR_US, SUM_FIELDS, LatencyQuery
from shared.events.latency.settings import LATENCY

# 13 edges of 12 bands, two per power of ten: a millisecond to a quarter of an hour.
EDGES_MS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LARGEST_KEYS = 10
OTHER, NONE = "(other)", "(none)"
NO_EVENTS = {"start": 0, "end": 0, "unpaired_start": 0}

_LEVELS = {"p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
_FIGURES = ("count", "error_count", *_LEVELS, "max")
_SHORT = ("count", "error_count", "p50", "p95", "p99", "max")
_OUTCOMES = {"all": "1", "error": "failed", "success": "NOT failed"}

# One row each for all pairs, for each bin and for each key (its rank and name); the first column
# distinguishes them.
_AGGREGATE = f"""
SELECT grouping(bin, key), bin, key,
    countIf(counts), countIf(counts AND failed),
    quantilesExactInclusiveIf({", ".join(map(str, _LEVELS.values()))})(latency, counts),
    maxIf(latency, counts),
    sumForEachIf(arrayMap(n -> toUInt64(n = band), range({len(EDGES_MS) - 1})), counts),
    sumForEachIf(summed, counts),
    countIf(start_counts), countIf(end_counts), countIf(start_counts AND state = {LONE_START})
FROM (
SELECT *, if(place > {LARGEST_KEYS}, ({LARGEST_KEYS + 1}, '{OTHER}'), (place, name)) AS key
FROM (
SELECT *, dense_rank() OVER (ORDER BY uses DESC, name) AS place
FROM (
SELECT *, countIf(counts) OVER (PARTITION BY name) AS uses,
    arrayCount(edge -> latency >= edge, {list(EDGES_MS[1:-1])}) AS band,
    if(counts, intDiv((toInt128(ts) - {{start}}) * {{bin_count}}, {{stop}} - {{start}}), 0) AS bin
FROM (
SELECT ts, state, failed, latency, name, summed, is_met AND starts_inside AS start_counts,
    is_met AND ends_inside AS end_counts,
    is_met AND starts_inside AND state = {PAIR} AND {{outcome}} AS counts
FROM (
SELECT state, first.ts AS ts, second.is_error AS failed,
    bitOr(first.met, second.met) = {{all_met}} AS is_met,
    state != {LONE_END} AND first.ts >= {{start}} AND first.ts < {{stop}} AS starts_inside,
    state != {LONE_START} AND second.ts >= {{start}} AND second.ts < {{stop}} AS ends_inside,
    ifNull(toFloat64(second.duration_ms), greatest(second.ts - first.ts, 0) / 1000) AS latency,
    [toUInt64(ifNull(second.duration_ms, 0)), second.input_tokens, second.output_tokens] AS summed,
    multiIf(least(first.place, second.place) > {{path_count}}, '{NONE}',
        second.place <= first.place, second.name, first.name) AS name
FROM ({{pairs}})
)))))
GROUP BY GROUPING SETS ((), (bin), (key))
"""
_ALL, _OF_BIN, _OF_KEY = 0b11, 0b01, 0b10


def latency_aggregate(clickhouse: ClickHouse, org_id: str, query: LatencyQuery) -> dict[str, Any]:
    """Returns the response of the route; latencies are milliseconds, times RFC 3339.

    Band n of the heatmap contains EDGES_MS[n] ≤ latency < EDGES_MS[n + 1]; the first also contains
    shorter and the last longer ones. Raises `QueryTimeout` after 20 s.
    """
    rows = _rows(clickhouse, org_id, query)
    totals = [row for row in rows if row[0] == _ALL]
    by_bin = {int(row[1]): row for row in rows if row[0] == _OF_BIN}
    by_key = sorted((row[2], row) for row in rows if row[0] == _OF_KEY and row[3])
    bins = [by_bin.get(number) for number in range(query.bin_count)]
    no_bands = [0] * (len(EDGES_MS) - 1)
    summed = dict(zip(SUM_FIELDS, totals[0][8] or [0, 0, 0], strict=True)) if totals else {}
    return {
        "bounds": {
            "from": format_us(query.start),
            "to": format_us(query.stop),
            "bin_ms": _bin_ms(query),
        },
        "bins": [
            {"ts": format_us(_begin(query, number)), **_figures(row, _FIGURES)}
            for number, row in enumerate(bins)
        ],
        "heatmap": {
            "edges_ms": list(EDGES_MS),
            "counts": [row[7] or no_bands if row else no_bands for row in bins],
        },
        "summary": _figures(totals[0] if totals else None, _SHORT),
        "events": dict(zip(NO_EVENTS, totals[0][9:12], strict=True)) if totals else NO_EVENTS,
        "sums": {name: summed.get(field, 0) for name, field in query.sums.items()},
        "distribution": [{"key": name, **_figures(row, _SHORT)} for (_, name), row in by_key],
    }


def _rows(clickhouse: ClickHouse, org_id: str, query: LatencyQuery) -> list[Row]:
    where = Where(org_id).any_of("session_id", query.filters.session_ids)
    where.add(
        "event_type IN ({start_type:String}, {end_type:String})",
        start_type=query.start_type,
        end_type=query.end_type,
    )
    where.within("ts", query.start - HOUR_US, query.stop + DAY_US)
    keys = find_keys(clickhouse, where, query.pair_paths)
    if keys.empty:
        return []
    pairs, all_met = pairs_sql(query, keys, where)
    sql = _AGGREGATE.format(
        pairs=pairs,
        all_met=all_met,
        start=query.start,
        stop=query.stop,
        bin_count=query.bin_count,
        outcome=_OUTCOMES[query.outcome],
        path_count=len(query.distribution_paths),
    )
    return clickhouse.rows(sql, where.params, settings=LATENCY)


def _figures(row: Row | None, names: Iterable[str]) -> dict[str, object]:
    """Returns counts and quantiles of a row of the statement; without pairs zeros and nulls."""
    if row is None or not row[3]:
        return {name: 0 if name.endswith("count") else None for name in names}
    values: Sequence[object] = (row[3], row[4], *row[5], row[6])
    found = dict(zip(_FIGURES, values, strict=True))
    return {name: found[name] for name in names}


def _bin_ms(query: LatencyQuery) -> float:
    width = (query.stop - query.start) / (query.bin_count * 1000)
    return int(width) if width.is_integer() else width


def _begin(query: LatencyQuery, number: int) -> int:
    """Returns the first microsecond of the bin."""
    return query.start - (query.start - query.stop) * number // query.bin_count
