import { type Options, type Query, request } from "../api/request";
import type { Receipt, SkippedRow } from "../api/types";
import type { PageOf } from "../kit/data/load";

export const PAGE_ROWS = 100;

/** Senders, those that sent last first. */
export async function listReceipts(query: Query, options: Options): Promise<PageOf<Receipt>> {
  const { receipts, next_cursor } = await request("GET /receipts", { query: query as object }, options);
  return { rows: receipts, next: next_cursor };
}

/** Lines and records that were not accepted, newest first. */
export async function listSkipped(query: Query, options: Options): Promise<PageOf<SkippedRow>> {
  const { skipped, next_cursor } = await request("GET /receipts/skipped", { query: query as object }, options);
  return { rows: skipped, next: next_cursor };
}
