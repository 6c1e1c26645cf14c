import { type Options, type Query, request } from "../api/request";
import type { BuiltinTable, PriceRow, Quote, QuoteBody, RepricingBody, RepricingRow } from "../api/types";
import type { PageOf } from "../kit/data/load";

export const PAGE_ROWS = 50;
const SHOWN_RUNS = 5;

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

/** The newest runs. */
export async function readRepricings(options: Options): Promise<RepricingRow[]> {
  return (await request("GET /costs/repricings", { query: { limit: SHOWN_RUNS } }, options)).repricings;
}

export function readRepricing(repricing_id: string, options: Options): Promise<RepricingRow> {
  return request("GET /costs/repricings/{repricing_id}", { path: { repricing_id } }, options);
}

export function reprice(body: RepricingBody): Promise<RepricingRow> {
  return request("POST /costs/repricings", { body });
}

export async function cancelRepricing(repricing_id: string): Promise<void> {
  await request("POST /costs/repricings/{repricing_id}/cancel", { path: { repricing_id } });
}
