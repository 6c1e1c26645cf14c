import assert from "node:assert/strict";
import { test } from "node:test";
import { changeText, rangeFor, stateText } from "./repricings";

test("a run begins with the price, but neither in the future nor before it may", () => {
  const now = Date.parse("2026-11-30T00:00:00Z");
  const from = (since: string) => rangeFor(since, now).from.toISOString().slice(0, 10);
  assert.equal(from("2026-11-20T00:00:00Z"), "2026-11-20");
  assert.equal(from("2020-01-01T00:00:00Z"), "2025-10-26");
  for (const since of ["all", "", "2027-01-01T00:00:00Z"]) assert.equal(from(since), "2026-10-31");
});

test("states and changes in words", () => {
  const progress = { months: 2, months_done: 1, calls: 1200 };
  assert.equal(stateText({ state: "running", progress, error: null }), "Running: 1 of 2 months, 1,200 calls");
  assert.equal(stateText({ state: "failed", progress, error: "no disk" }), "Failed: no disk");
  assert.equal(stateText({ state: "done", progress, error: null }), "Done");
  assert.equal(changeText({ calls: 3400, changed: 12 }), "12 of 3,400 calls change");
  assert.equal(changeText({ calls: 1, changed: 1 }), "1 of 1 call changes");
});
