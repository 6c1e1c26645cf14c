"""SQL that pairs any events, in steps: events, then groups with one key, then pairs.

Each step is a SELECT around the previous one, so ClickHouse reads the events once. An event is a
tuple; its times are microseconds.
"""

from shared.foundation.clickhouse.event_columns import SELECT_KEY, TABLE
from shared.foundation.clickhouse.where import Where
from shared.reading.events.latency.conditions import MAX_NAME_BYTES, NONE, OUTCOMES, met_bits
from shared.reading.events.latency.keys import LatencyKeys
from shared.reading.events.latency.paths import first_of, value_of
from shared.reading.events.latency.query import LatencyQuery

_PAIR, _LONE_START, _LONE_END = 0, 1, 2

_EVENT = (
    "Tuple(is_end Bool, ts Int64, arrival UInt64, id UInt64, agent UInt64, keys Array(UInt64),"
    " met UInt64, is_error Bool, duration_ms Nullable(UInt32), input_tokens UInt64,"
    " output_tokens UInt64, place UInt8, name String)"
)

# `keys` are hashes, 0 if a path has no value; `met` has a bit for each filter that the event meets.
_EVENTS = f"""
SELECT session_id, CAST((
    event_type = {{{{end_type:String}}}}, {SELECT_KEY}, cityHash64(agent_id), {{keys}},
    {{met}}, is_error, duration_ms, ifNull(input_tokens, 0), ifNull(output_tokens, 0), {{place}},
    {{name}}
) AS {_EVENT}) AS event
FROM {TABLE} FINAL
WHERE {{where}}
"""

_KEY_IS_CERTAIN = """
SELECT session_id, event, 1 AS path, event.keys[1] AS key
FROM ({events})
"""

_NO_KEYS = """
SELECT session_id, event, 0 AS path, event.agent AS key
FROM ({events})
"""

# Each event once for each path where it has a value and both types of its session have some; an
# event without any once for its agent, as path 0.
_CANDIDATES = """
SELECT session_id, event, path, if(path = 0, event.agent, event.keys[path]) AS key
FROM (
    SELECT session_id, member AS event,
        arrayFilter(n -> member.keys[n] != 0 AND common[n], arrayEnumerate(common)) AS found,
        arrayJoin(if(empty(found), [toUInt32(0)], found)) AS path
    FROM (
        SELECT session_id, arrayJoin(groupArray(event)) AS member,
            maxForEach(arrayMap(key -> key != 0 AND NOT event.is_end, event.keys)) AS of_starts,
            maxForEach(arrayMap(key -> key != 0 AND event.is_end, event.keys)) AS of_ends,
            arrayMap((start, end) -> start AND end, of_starts, of_ends) AS common
        FROM ({events})
        GROUP BY session_id
    )
)
"""

# For each of an event's candidates, the first path at which the other type has the same value.
_FIRST_SHARED = """
SELECT session_id, event, best.1 AS path, best.2 AS key
FROM (
    SELECT session_id, any(member) AS event, argMin((path, key), (is_alone, path)) AS best
    FROM (
        SELECT session_id, path, key, arrayJoin(groupArray(event)) AS member,
            min(event.is_end) = max(event.is_end) AS is_alone
        FROM ({candidates})
        GROUP BY session_id, path, key
    )
    GROUP BY session_id, member.ts, member.id
)
"""

# A close takes the oldest open start. A start and a close that are the only ones with a key pair in
# any order. Events that differ at an earlier common path are no pair. Each step has one level:
# within one, an alias is planned again wherever it is used, and nested uses took longer to plan
# than to run.
_PAIRS = f"""
SELECT found.1 AS first, found.2 AS second, found.3 AS state
FROM (
SELECT arrayJoin(arrayConcat(
    arrayMap(pair -> (pair.1, pair.2, {_PAIR}), arrayFilter(pair -> NOT pair.3, pairs)),
    arrayMap(pair -> (pair.1, pair.1, {_LONE_START}), arrayFilter(pair -> pair.3, pairs)),
    arrayMap(pair -> (pair.2, pair.2, {_LONE_END}), arrayFilter(pair -> pair.3, pairs)),
    arrayMap(event -> (event, event, {_LONE_START}), unclosed),
    arrayMap(event -> (event, event, {_LONE_END}), unopened)
)) AS found
FROM (
SELECT unopened, arraySlice(starts, length(closing) + 1) AS unclosed,
    arrayMap((s, e) -> (s, e, arrayExists(
            (a, b, place) -> place < path AND a != b AND a != 0 AND b != 0,
            s.keys, e.keys, arrayEnumerate(s.keys))),
        arraySlice(starts, 1, length(closing)), closing) AS pairs
FROM (
SELECT path, arrayFilter(event -> NOT event.is_end, sorted) AS starts,
    arrayFilter((event, closes) -> closes, sorted, is_closing) AS closing,
    arrayFilter((event, closes) -> event.is_end AND NOT closes, sorted, is_closing) AS unopened
FROM (
SELECT path, sorted,
    arrayMap((event, open) -> event.is_end AND (is_couple OR open > 0),
        sorted, arrayPushFront(arrayPopBack(open_after), 0)) AS is_closing
FROM (
SELECT path, sorted,
    path > 0 AND length(sorted) = 2 AND sorted[1].is_end != sorted[2].is_end AS is_couple,
    arrayCumSumNonNegative(arrayMap(event -> if(event.is_end, -1, 1), sorted)) AS open_after
FROM (
SELECT path,
    arraySort(e -> (e.ts, e.is_end, e.arrival, e.id), groupArray(event)) AS sorted
FROM ({{grouped}})
GROUP BY session_id, path, key
))))))
"""


# The columns that `shared.reading.events.latency.conditions` describes.
_ROWS = f"""
SELECT *, is_met AND starts_inside AS start_counts, is_met AND ends_inside AS end_counts,
    start_counts AND state = {_LONE_START} AS lone_counts,
    start_counts AND state = {_PAIR} AND {{outcome}} AS counts
FROM (
SELECT state, first.ts AS started, first.id AS start_id, second.is_error AS failed,
    false AS is_odd, {{fields}}
    bitOr(first.met, second.met) = {{all_met}} AS is_met,
    state != {_LONE_END} AND first.ts >= {{start}} AND first.ts < {{stop}} AS starts_inside,
    state != {_LONE_START} AND second.ts >= {{start}} AND second.ts < {{stop}} AS ends_inside,
    ifNull(toFloat64(second.duration_ms), greatest(second.ts - first.ts, 0) / 1000) AS latency,
    multiIf(least(first.place, second.place) > {{path_count}}, '{NONE}',
        second.place <= first.place, second.name, first.name) AS name
FROM ({{pairs}})
)
"""


def pairs_sql(query: LatencyQuery, keys: LatencyKeys, where: Where) -> str:
    """Returns a SELECT of the pairs of the events of `where`; adds the bound parameters to it."""
    place, name = first_of(query.distribution_paths, where, MAX_NAME_BYTES)
    met, all_met = met_bits(query, where)
    events = _EVENTS.format(
        keys=f"[{', '.join(_hash(value_of(path, where)) for path in keys.paths)}]",
        met=met,
        place=place,
        name=name,
        where=where,
    )
    return _ROWS.format(
        pairs=_PAIRS.format(grouped=_grouped(keys, events)),
        all_met=all_met,
        start=query.start,
        stop=query.stop,
        outcome=OUTCOMES[query.outcome],
        path_count=len(query.distribution_paths),
        fields="".join(f"ifNull(second.{one}, 0) AS sum_{one}, " for one in query.summed),
    )


def _grouped(keys: LatencyKeys, events: str) -> str:
    if not keys.paths:
        return _NO_KEYS.format(events=events)
    if keys.certain:
        return _KEY_IS_CERTAIN.format(events=events)
    candidates = _CANDIDATES.format(events=events)
    if len(keys.paths) == 1:
        return candidates
    return _FIRST_SHARED.format(candidates=candidates)


def _hash(value: str) -> str:
    return f"if({value} = '', 0, greatest(cityHash64({value}), 1))"
