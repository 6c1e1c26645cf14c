import assert from "node:assert/strict";
import { test } from "node:test";
import type { PriceRow, Quote } from "../api/types";
import { callOf, extrasOf, quoteWords } from "./model";

test("what has no column is named behind the columns", () => {
  const row = {
    prices: { input: 3, output: 15, cache_write: 3.75, cache_write_1h: 6, web_search: 10 },
    tiers: [{ above_input_tokens: 200_000, prices: { input: 6, output: 22.5 } }],
    variants: [
      { when: { service_tier: "batch" }, factor: 0.5, tiers: [] },
      {
        when: { utc_time: "16:30-00:30" },
        prices: { input: 1 },
        tiers: [{ above_input_tokens: 1000, prices: { input: 2 } }],
      },
    ],
  } as unknown as PriceRow;
  assert.deepEqual(extrasOf(row), [
    "cache write, 1 h $6.00, web search $10.00",
    "above 200.0k tokens: input $6.00, output $22.50",
    "batch: × 0.5",
    "16:30-00:30 UTC: input $1.00, above 1.0k tokens: input $2.00",
  ]);
  assert.deepEqual(extrasOf({ prices: { input: 1, output: 2 } as PriceRow["prices"], tiers: [], variants: [] }), []);
});

test("a call is what was typed, and none without a model", () => {
  const typed = (values: Record<string, string>) => (name: string) => values[name] ?? null;
  assert.equal(callOf(typed({ input_tokens: "5" })), null);
  assert.deepEqual(callOf(typed({ model: " gpt-4o ", input_tokens: "12,000", output_tokens: "many", provider: "" })), {
    model: "gpt-4o",
    input_tokens: 12_000,
    output_tokens: "many",
  });
});

test("a sentence says what a call costs and why, or why not", () => {
  const price = { source: "organization", model: "house-*", provider: null } as PriceRow;
  const said = (quote: Partial<Quote>) => quoteWords({ cost_usd: null, price: null, ...quote } as Quote);
  assert.equal(said({ cost_usd: 0.0333, price }), "$0.0333, by the own price house-*");
  assert.equal(said({ unpriced_reason: "no_price" }), "No price.");
  assert.equal(said({ unpriced_reason: "no_usage", price }), "No tokens. It would count by the own price house-*.");
});
