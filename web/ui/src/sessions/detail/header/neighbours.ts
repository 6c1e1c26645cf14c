// The sessions before and after this one, in the list that one came from.
import type { Answer, Query } from "../../../api/request";
import { request } from "../../../api/request";
import { param } from "../../../kit/router";
import { boundsOf, rangeOf } from "../../../kit/time";

type Row = Answer<"GET /sessions">["sessions"][number];

export interface Neighbours {
  newer: string | null;
  older: string | null;
}

const FILTERS = ["agent_id", "environment", "status", "score_filters", "session_id"] as const;

/** The earlier of two moments; null is none. RFC 3339 in UTC sorts as text. */
const earlier = (one: string, other: string | null) => (other !== null && other < one ? other : one);
const later = (one: string, other: string | null) => (other !== null && other > one ? other : one);

/** @param lastEventAt of this session: the list is ordered by it */
export async function readNeighbours(id: string, lastEventAt: string, signal: AbortSignal): Promise<Neighbours> {
  // The state of the list as it stood in its URL.
  const list = new URLSearchParams(param("list") ?? "");
  const filters: Query = Object.fromEntries(FILTERS.map((name) => [name, list.get(name)]));
  const { from, to } = boundsOf(rangeOf(list, "all"), Date.now());
  const other = (row: Row) => row.session_id !== id;
  // One microsecond further, because the end of a range is not part of it; ties are skipped by the id.
  const after = new Date(Date.parse(lastEventAt) + 1).toISOString();
  const newest: Query = { ...filters, ts_from: from, ts_to: earlier(after, to), limit: 2 };
  const oldest: Query = { ...filters, ts_from: later(lastEventAt, from), ts_to: to, order: "asc", limit: 2 };
  const [older, newer] = await Promise.all([
    request("GET /sessions", { query: newest }, { signal }),
    request("GET /sessions", { query: oldest }, { signal }),
  ]);
  return {
    older: older.sessions.find(other)?.session_id ?? null,
    newer: newer.sessions.find(other)?.session_id ?? null,
  };
}
