import { type Options, type Query, request, requestText } from "../api/request";
import type { AuditLogLine } from "../api/types";
import type { PageOf } from "../kit/data/load";

export const PAGE_ROWS = 100;

export async function listLines(query: Query, options: Options): Promise<PageOf<AuditLogLine>> {
  const { lines, next_cursor } = await request(
    "GET /audit-log",
    { query: { ...query, limit: PAGE_ROWS } as object },
    options,
  );
  return { rows: lines, next: next_cursor };
}

/** All lines that the filters let through, as JSON lines. */
export function exportLines(query: Query): Promise<string> {
  return requestText("GET /audit-log/export", { query: query as object });
}
