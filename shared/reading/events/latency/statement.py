"""People's SQL that measures the same pairs: for "Open in SQL", with literals.

It pairs as the service does: within a session a close takes the oldest start that is open, of those
with the same key, or without keys of those of the same agent. A start and a close that are alone
with a key belong together in any order. A filter holds for a pair if it holds for one of the two.
"""

from shared.foundation.clickhouse import literals
from shared.foundation.core.clock import from_us
from shared.foundation.core.errors import Invalid
from shared.reading.events.families import NAMED
from shared.reading.events.latency.conditions import MAX_NAME_BYTES, NONE, OUTCOMES
from shared.reading.events.latency.paths import COLUMNS
from shared.reading.events.latency.query import DEFAULT_PAIR_PATHS, LatencyQuery

MOST_ROWS = 1000

_STATEMENT = """SELECT if(grouping(name) = 1, '(all)', name) AS {noun},
  quantileExactInclusive(0.5)(latency) AS p50, quantileExactInclusive(0.95)(latency) AS p95,
  quantileExactInclusive(0.99)(latency) AS p99, max(latency) AS max,
  count() AS count, sum(failed) AS errors
FROM (
  SELECT opened.1 AS started_at, closed.5 AS failed,
    multiIf(closed.4 != '', closed.4, opened.4 != '', opened.4, '{none}') AS name,
    toUnixTimestamp64Micro(closed.1) - toUnixTimestamp64Micro(opened.1) AS gap_us,
    ifNull(toFloat64(closed.6), greatest(gap_us, 0) / 1000) AS latency
  FROM (
    SELECT arrayJoin(arrayZip(arraySlice(starts, 1, length(closes)), closes)) AS pair,
      pair.1 AS opened, pair.2 AS closed
    FROM (
      SELECT groupArray((ts, is_close, id, name, is_error, duration_ms, met)) AS events_of_key,
        arraySort(event -> (event.1, event.2, event.3), events_of_key) AS sorted,
        key != '' AND length(sorted) = 2 AND sorted[1].2 != sorted[2].2 AS is_couple,
        arrayMap(event -> if(event.2, -1, 1), sorted) AS steps,
        arrayPushFront(arrayCumSumNonNegative(steps), 0) AS open,
        arrayFilter(event -> NOT event.2, sorted) AS starts,
        arrayFilter((event, before) -> event.2 AND (is_couple OR before > 0),
          sorted, arrayPopBack(open)) AS closes
      FROM (
        SELECT ts, id, session_id, agent_id, is_error, duration_ms, [{met}] AS met,
          event_type = {end_type} AS is_close, ifNull({name}, '') AS given,
          if(length(given) > {most_bytes}, '', given) AS name, ifNull({link}, '') AS link,
          min(is_close) OVER linked != max(is_close) OVER linked AS is_linked,
          if(is_linked, link, '') AS key
        FROM events
        WHERE {events}
        WINDOW linked AS (PARTITION BY session_id, link != '')
      )
      GROUP BY session_id, key, if(key = '', agent_id, '')
    )
  )
  WHERE {chosen}
)
GROUP BY GROUPING SETS ((), (name))
ORDER BY grouping(name) DESC, p95 DESC
LIMIT {most_rows}"""

# The name of a column in the answer.
_NOUNS = {**{family.group: family.noun for family in NAMED}, "agent_id": "agent"}
_LINKS = {family.start: family.key for family in NAMED}


def measured(query: LatencyQuery) -> str:
    """Returns the statement: the figures of all pairs, then those of each name.

    Raises `Invalid` naming the parameter for paths into the payload, several paths and texts.
    """
    if query.contains:
        raise Invalid.field("payload_contains", "is not available as SQL")
    name = _column("distribution_key_paths", query.distribution_paths)
    pair_paths = query.pair_paths
    if pair_paths == DEFAULT_PAIR_PATHS:
        pair_paths = (_LINKS.get(query.start_type, "input_id"),)
    start, stop = (literals.moment(from_us(us)) for us in (query.start, query.stop))
    filters = query.filters.sql()
    met = [f"ifNull({condition}, false)" for condition in filters]
    chosen = [f"started_at >= {start}", f"started_at < {stop}"]
    if met:
        chosen.append("arrayAll((one, other) -> one OR other, opened.7, closed.7)")
    if query.outcome != "all":
        chosen.append(OUTCOMES[query.outcome])
    types = literals.is_one_of("event_type", (query.start_type, query.end_type))
    around = f"ts >= {start} - INTERVAL 1 HOUR AND ts < {stop} + INTERVAL 1 DAY"
    return _STATEMENT.format(
        noun=_NOUNS.get(name, name),
        none=NONE,
        met=", ".join(met),
        end_type=literals.text(query.end_type),
        name=name,
        most_bytes=MAX_NAME_BYTES,
        link=_column("pair_key_paths", pair_paths),
        events=f"{types} AND {around}",
        chosen=" AND ".join(chosen),
        most_rows=MOST_ROWS,
    )


def _column(parameter: str, paths: tuple[str, ...]) -> str:
    if len(paths) != 1 or paths[0] not in COLUMNS:
        raise Invalid.field(parameter, "must be one column, and no path, to be available as SQL")
    return paths[0]
