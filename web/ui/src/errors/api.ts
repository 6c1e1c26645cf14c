import { type Options, type Query, request } from "../api/request";
import type { EventSummary } from "../api/types";
import type { PageOf } from "../kit/data/load";

export const PAGE_ROWS = 50;

export async function listErrors(query: Query, options: Options): Promise<PageOf<EventSummary>> {
  const { events, next_cursor } = await request(
    "GET /events/summary",
    { query: { ...query, limit: PAGE_ROWS } as object },
    options,
  );
  return { rows: events, next: next_cursor };
}
