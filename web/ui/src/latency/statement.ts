// The statement of "Open in SQL" on the page "Latency". Pure functions.
import { eventConditions } from "../kit/event-conditions";
import { among, within } from "../kit/sql";
import type { Choice } from "./model";

// Longer names count as none.
const MOST_NAME_BYTES = 1024;

/** The moments around the bounds at which the other event of a pair is looked for. */
function around({ from, to }: Choice["bounds"]): string[] {
  const [since, before] = [within("ts", from, null), within("ts", null, to)];
  return [...since.map((text) => `${text} - INTERVAL 1 HOUR`), ...before.map((text) => `${text} + INTERVAL 1 DAY`)];
}

const quantile = (level: number, name: string) => `quantileExactInclusive(${level})(latency) AS ${name}`;

/**
 * A statement that answers the same: the figures of all pairs, then those of each name. It pairs as
 * the service does: within a session a close takes the oldest start that is open, of those with the
 * same key, or without keys of those of the same agent. A start and a close that are alone with a
 * key belong together in any order. A filter holds for a pair if it holds for one of the two.
 */
export function latencySql({ family, filters, bounds }: Choice): string {
  const met = eventConditions(filters).map((condition) => `ifNull(${condition}, false)`);
  const chosen = [
    ...within("started_at", bounds.from, bounds.to),
    ...(met.length ? ["arrayAll((one, other) -> one OR other, opened.7, closed.7)"] : []),
  ];
  const events = [...among("event_type", [family.start, family.end]), ...around(bounds)];
  return `SELECT if(grouping(name) = 1, '(all)', name) AS ${family.noun.toLowerCase()},
  ${quantile(0.5, "p50")}, ${quantile(0.95, "p95")},
  ${quantile(0.99, "p99")}, max(latency) AS max, count() AS count, sum(failed) AS errors
FROM (
  SELECT opened.1 AS started_at, closed.5 AS failed,
    multiIf(closed.4 != '', closed.4, opened.4 != '', opened.4, '(none)') AS name,
    ifNull(toFloat64(closed.6), greatest(toUnixTimestamp64Micro(closed.1) - toUnixTimestamp64Micro(opened.1), 0) / 1000) AS latency
  FROM (
    SELECT arrayJoin(arrayZip(arraySlice(starts, 1, length(closes)), closes)) AS pair, pair.1 AS opened, pair.2 AS closed
    FROM (
      SELECT arraySort(event -> (event.1, event.2, event.3), groupArray((ts, is_close, id, name, is_error, duration_ms, met))) AS sorted,
        key != '' AND length(sorted) = 2 AND sorted[1].2 != sorted[2].2 AS is_couple,
        arrayPushFront(arrayCumSumNonNegative(arrayMap(event -> if(event.2, -1, 1), sorted)), 0) AS open,
        arrayFilter(event -> NOT event.2, sorted) AS starts,
        arrayFilter((event, before) -> event.2 AND (is_couple OR before > 0), sorted, arrayPopBack(open)) AS closes
      FROM (
        SELECT ts, id, session_id, agent_id, is_error, duration_ms, [${met.join(", ")}] AS met,
          event_type = '${family.end}' AS is_close, ifNull(${family.key}, '') AS given,
          if(length(given) > ${MOST_NAME_BYTES}, '', given) AS name, ifNull(${family.link}, '') AS link,
          min(is_close) OVER (PARTITION BY session_id, link != '') != max(is_close) OVER (PARTITION BY session_id, link != '') AS is_linked,
          if(is_linked, link, '') AS key
        FROM events
        WHERE ${events.join(" AND ")}
      )
      GROUP BY session_id, key, if(key = '', agent_id, '')
    )
  )${chosen.length ? `\n  WHERE ${chosen.join(" AND ")}` : ""}
)
GROUP BY GROUPING SETS ((), (name))
ORDER BY grouping(name) DESC, p95 DESC
LIMIT 1000`;
}
