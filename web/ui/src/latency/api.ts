import { type Options, type Query, request } from "../api/request";
import type { LatencyAggregate } from "../api/types";
import type { Bounds } from "../kit/time/time";
import type { Family } from "./model";

export function readLatency(query: Query, options: Options): Promise<LatencyAggregate> {
  return request("GET /events/latency_aggregate", { query: query as object }, options);
}

/**
 * The bounds of all pairs of a family, because the API has no "all": it looks at 24 h if no
 * beginning is given. They are those of the starts that the filters let through, or, as a filter
 * may hold for the ends alone, of all starts. Both are null where there are none.
 */
export async function readExtent(family: Family, filters: Query, options: Options): Promise<Bounds> {
  for (const chosen of [filters, {}]) {
    const end = async (order: "asc" | "desc") =>
      (
        await request(
          "GET /events/summary",
          { query: { ...chosen, event_type: family.start, order, limit: 1 } },
          options,
        )
      ).events[0]?.ts;
    const [first, last] = await Promise.all([end("asc"), end("desc")]);
    if (first !== undefined && last !== undefined)
      return { from: new Date(Date.parse(first)).toISOString(), to: new Date(Date.parse(last) + 1).toISOString() };
  }
  return { from: null, to: null };
}
