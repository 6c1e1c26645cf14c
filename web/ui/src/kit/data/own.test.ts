import assert from "node:assert/strict";
import { test } from "node:test";
import { own } from "./own";

test("names that every object knows are no values", () => {
  const scores = JSON.parse('{"__proto__": 0.5, "reward": 1}') as Record<string, number>;
  assert.equal(own(scores, "__proto__"), 0.5);
  assert.equal(own(scores, "reward"), 1);
  for (const name of ["constructor", "toString", "hasOwnProperty"]) assert.equal(own(scores, name), undefined);
  assert.equal(own({}, "__proto__"), undefined);
  assert.equal(own(null, "reward"), undefined);
});
