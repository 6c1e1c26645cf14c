import { type Options, request } from "../../api/request";
import type { PriceBody, PriceRow } from "../../api/types";

/** As many as the API returns at once. */
const MOST_ROWS = 500;

/** All prices, own ones first. */
export async function readPrices(options: Options = {}): Promise<PriceRow[]> {
  const found: PriceRow[] = [];
  let cursor: string | null = null;
  do {
    const query: object = { source: "all", limit: MOST_ROWS, cursor };
    const page = await request("GET /prices", { query }, options);
    found.push(...page.prices);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found;
}

/** Creates a price, or replaces the one with that id. */
export function savePrice(price_id: string | null, body: PriceBody): Promise<PriceRow> {
  return price_id === null
    ? request("POST /prices", { body })
    : request("PUT /prices/{price_id}", { path: { price_id }, body });
}
