import assert from "node:assert/strict";
import { test } from "node:test";
import type { PriceRow } from "../../api/types";
import { bodyOf, draftOf, textAt, withText } from "./draft";
import { noteText, priceName } from "./words";

const ROW = {
  id: "p",
  source: "organization",
  model: "house-*",
  provider: null,
  valid_from: "2026-11-01T00:00:00Z",
  note: "as agreed",
  prices: { input: 3, output: 15, cache_read: 0.3 },
  tiers: [{ above_input_tokens: 200_000, prices: { input: 6 } }],
  variants: [
    { when: { service_tier: "batch" }, factor: 0.5 },
    { when: { utc_time: "16:30-00:30" }, prices: { output: 7.5 }, tiers: [{ above_input_tokens: 1, prices: {} }] },
  ],
} as unknown as PriceRow;

test("a price goes through its form unchanged", () => {
  const body = bodyOf(draftOf(ROW, "Europe/Berlin"), "Europe/Berlin");
  assert.deepEqual(body, {
    model: "house-*",
    provider: null,
    valid_from: "2026-11-01T00:00:00.000Z",
    note: "as agreed",
    prices: { input: "3", output: "15", cache_read: "0.3" },
    tiers: [{ above_input_tokens: 200_000, prices: { input: "6" } }],
    variants: [
      { when: { service_tier: "batch" }, factor: "0.5" },
      { when: { utc_time: "16:30-00:30" }, prices: { output: "7.5" }, tiers: [{ above_input_tokens: 1, prices: {} }] },
    ],
  });
});

test("what the form cannot read goes to the server, which names the field", () => {
  let draft = draftOf({ model: " gpt " }, "UTC");
  for (const [path, text] of Object.entries({ "prices.input": " 2.5 ", "prices.output": "many", valid_from: "soon" }))
    draft = withText(draft, path, text);
  draft = withText({ ...draft, tiers: [{ above_input_tokens: "", prices: {} }] }, "tiers.0.above_input_tokens", "1 k");
  const body = bodyOf(draft, "UTC");
  assert.equal(body.model, "gpt");
  assert.deepEqual(body.prices, { input: "2.5", output: "many" });
  assert.equal(body.valid_from, "soon");
  assert.equal(body.tiers![0]!.above_input_tokens, "1 k");
  assert.equal(textAt(draft, "prices.output"), "many");
  assert.equal(textAt(draft, "variants.0.when.service_tier"), "");
});

test("words say which price it is, and leave those that are not known as they are", () => {
  assert.equal(priceName(ROW), "the own price house-*");
  assert.equal(
    priceName({ source: "builtin", model: "gpt-4o", provider: "openai" }),
    "the built-in price gpt-4o of openai",
  );
  assert.match(noteText("tier_unknown"), /standard price/);
  assert.equal(noteText("constructor"), "constructor");
});
