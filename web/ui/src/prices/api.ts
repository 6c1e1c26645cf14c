import { type Options, type Query, request } from "../api/request";
import type { BuiltinTable, PriceRow, Quote, QuoteBody } from "../api/types";
import type { PageOf } from "../kit/data/load";

export const PAGE_ROWS = 50;

export interface PriceList extends PageOf<PriceRow> {
  builtin: BuiltinTable;
}

export async function listPrices(query: Query, options: Options): Promise<PriceList> {
  const page = await request("GET /prices", { query: query as object }, options);
  return { rows: page.prices, next: page.next_cursor, builtin: page.builtin };
}

export async function deletePrice(price_id: string): Promise<void> {
  await request("DELETE /prices/{price_id}", { path: { price_id } });
}

/** The cost that a call would have. It changes nothing, so it waits while the server is busy. */
export function quote(body: QuoteBody, options: Options): Promise<Quote> {
  return request("POST /prices/quote", { body }, { retry: true, ...options });
}
