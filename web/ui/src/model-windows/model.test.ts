import assert from "node:assert/strict";
import { test } from "node:test";
import { sentenceOf, tokensOf } from "./model";

test("numbers of tokens are read as people write them", () => {
  assert.equal(tokensOf("128000"), 128_000);
  assert.equal(tokensOf(" 128,000 "), 128_000);
  assert.equal(tokensOf("1.5k"), 1500);
  assert.equal(tokensOf("1M"), 1_000_000);
  for (const text of ["", "many", "-1", "1.0001k", "1e5"]) assert.equal(tokensOf(text), null);
});

test("a sentence says which window a model gets, and why", () => {
  const said = (context_window: number | null, source: "override" | "default" | "unknown") =>
    sentenceOf({ model_id: "m", context_window, source });
  assert.equal(said(128_000, "override"), "128,000 tokens, set by this organization.");
  assert.equal(said(128_000, "default"), "128,000 tokens, from the built-in table.");
  assert.match(said(null, "unknown"), /^Unknown\./);
  assert.match(said(null, "override"), /^Unknown\./);
});
