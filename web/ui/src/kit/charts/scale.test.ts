import assert from "node:assert/strict";
import { test } from "node:test";
import { linear, ticks, timeTicks } from "./scale";

test("ticks are round and hold all values", () => {
  assert.deepEqual(ticks(0, 97), [0, 50, 100]);
  assert.deepEqual(ticks(0, 0.3, 3), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticks(0, 0), [0, 1]);
  assert.deepEqual(ticks(-5, 5, 4), [-5, 0, 5]);
});

test("ticks of time are round in the zone, also behind a change of the clocks", () => {
  const from = Date.parse("2026-10-24T10:00:00Z");
  const { at, step } = timeTicks(from, from + 48 * 3_600_000, 4, "Europe/Berlin");
  assert.equal(step, 12 * 3_600_000);
  assert.deepEqual(
    at.map((one) => new Date(one).toISOString().slice(0, 16)),
    ["2026-10-24T10:00", "2026-10-24T22:00", "2026-10-25T11:00", "2026-10-25T23:00"],
  );
});

test("a scale maps ends to ends, and survives a span of nothing", () => {
  assert.equal(linear(0, 10, 100, 0)(5), 50);
  assert.equal(linear(3, 3, 0, 100)(3), 0);
});

test("counts have no fractions between them", () => {
  assert.deepEqual(ticks(0, 2, 4, 1), [0, 1, 2]);
  assert.deepEqual(ticks(0, 1, 4, 1), [0, 1]);
  assert.deepEqual(ticks(0, 40, 4, 1), [0, 10, 20, 30, 40]);
});
