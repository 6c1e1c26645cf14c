// The dashboard "Costs" to begin with: statements, and their tiles on the grid. Pure.
import type { QueryRow, TileBody } from "../api/types";

export interface TemplateTile {
  /** The name of the query, and the title of the tile. */
  name: string;
  sql: string;
  tile: Omit<TileBody, "query_id" | "title">;
}

const CALLS = "ts >= $1 AND ts < $2 AND cost_source IS NOT NULL";

/** Sums by a column of calls. */
function by(column: string, calls = `events WHERE ${CALLS}`): string {
  return (
    `SELECT ifNull(${column}, 'none') AS name, round(sum(cost_usd), 6) AS cost, count() AS calls ` +
    `FROM ${calls} GROUP BY name ORDER BY cost DESC NULLS LAST LIMIT 50`
  );
}

/** Calls with the user or version that they have: their own, else that of their session. */
function effective(column: string): string {
  return by(
    "found",
    `(SELECT ifNull(e.${column}, s.${column}) AS found, e.cost_usd AS cost_usd FROM events AS e ` +
      `LEFT JOIN (SELECT session_id, ${column} FROM agent_sessions WHERE session_id IN ` +
      `(SELECT session_id FROM events WHERE ${CALLS})) AS s ON e.session_id = s.session_id ` +
      `WHERE e.${CALLS.replaceAll(" AND ", " AND e.")})`,
  );
}

const HALF = { pos_w: 6, pos_h: 5 };
const WHOLE = { pos_x: 0, pos_w: 12, pos_h: 5 };
const bars = { chart_type: "bar", chart_config: { x: "name", y: ["cost"], series: "" } } as const;

export const COSTS: readonly TemplateTile[] = [
  {
    name: "Cost per day",
    sql:
      "SELECT toStartOfDay(ts) AS day, ifNull(model, 'none') AS name, round(sum(cost_usd), 6) AS cost " +
      `FROM events WHERE ${CALLS} AND cost_usd IS NOT NULL GROUP BY day, name ORDER BY day, name`,
    tile: {
      ...WHOLE,
      pos_y: 0,
      chart_type: "stacked_bar",
      chart_config: { x: "day", y: ["cost"], series: "name" },
    },
  },
  { name: "Cost per model", sql: by("model"), tile: { ...HALF, ...bars, pos_x: 0, pos_y: 5 } },
  { name: "Cost per user", sql: effective("user_id"), tile: { ...HALF, ...bars, pos_x: 6, pos_y: 5 } },
  { name: "Cost per version", sql: effective("agent_version"), tile: { ...HALF, ...bars, pos_x: 0, pos_y: 10 } },
  {
    name: "Calls without a price",
    sql:
      "SELECT model, provider, unpriced_reason AS reason, count() AS calls, " +
      "sum(ifNull(input_tokens, 0) + ifNull(output_tokens, 0)) AS tokens, max(ts) AS last " +
      "FROM events WHERE ts >= $1 AND ts < $2 AND cost_source = 'unpriced' " +
      "GROUP BY model, provider, reason ORDER BY calls DESC",
    tile: { ...HALF, pos_x: 6, pos_y: 10, chart_type: "table", chart_config: {} },
  },
];

/** Bounds that the range of the dashboard fills. */
export const RANGE_PARAMS = [
  { name: "from", value: "" },
  { name: "to", value: "" },
];

/** The saved query with this statement, which a template uses again. */
export function savedFor(sql: string, queries: readonly QueryRow[]): QueryRow | undefined {
  return queries.find(
    ({ sql_text, params }) => sql_text === sql && params.map(({ name }) => name as string).join() === "from,to",
  );
}

/** A name that no query has yet: names of queries are unique. */
export function freeName(name: string, queries: readonly Pick<QueryRow, "name">[]): string {
  const taken = new Set(queries.map((query) => query.name));
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name} ${number}`;
  return free;
}
