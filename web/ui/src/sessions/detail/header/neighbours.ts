// The sessions before and after this one by the last event, in the list that one came from.
import type { Answer, Query } from "../../../api/request";
import { request } from "../../../api/request";
import { filterNames } from "../../../kit/list/filter-bar";
import { param } from "../../../kit/router";
import { boundsOf, rangeOf } from "../../../kit/time/time";
import { withAttributes } from "../../../kit/url";
import { isAfter, nextMicrosecond, type Place, padded } from "../model/moments";

type Row = Answer<"GET /sessions">["sessions"][number];

export interface Neighbours {
  newer: string | null;
  older: string | null;
}

/** The session itself, the next one, and some with the same last event. */
const ROWS = 10;

/** The first row of a list that fits, on whatever page. */
async function first(query: Query, fits: (row: Row) => boolean, signal: AbortSignal): Promise<string | null> {
  let cursor: string | null = null;
  do {
    const page: Answer<"GET /sessions"> = await request(
      "GET /sessions",
      { query: { ...query, limit: ROWS, ...(cursor && { cursor }) } },
      { signal },
    );
    const found = page.sessions.find(fits);
    if (found) return found.session_id;
    cursor = page.next_cursor;
  } while (cursor);
  return null;
}

/** @param lastEventAt of this session */
export async function readNeighbours(id: string, lastEventAt: string, signal: AbortSignal): Promise<Neighbours> {
  // The state of the list as it stood in its URL.
  const list = new URLSearchParams(param("list") ?? "");
  const names = withAttributes(filterNames("sessions"), list);
  const filters: Query = Object.fromEntries(names.map((name) => [name, list.get(name)]));
  const { from, to } = boundsOf(rangeOf(list, "all"), Date.now());
  const here: Place = { session_id: id, last_event_at: lastEventAt };
  // One microsecond further, because the end of a range is not part of it.
  const after = nextMicrosecond(lastEventAt);
  const end = to !== null && padded(to) < after ? to : after;
  const start = from !== null && padded(from) > padded(lastEventAt) ? from : lastEventAt;
  const [older, newer] = await Promise.all([
    first({ ...filters, ts_from: from, ts_to: end }, (row) => isAfter(here, row), signal),
    first({ ...filters, ts_from: start, ts_to: to, order: "asc" }, (row) => isAfter(row, here), signal),
  ]);
  return { older, newer };
}
