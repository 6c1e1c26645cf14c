import assert from "node:assert/strict";
import { test } from "node:test";
import { sliceOf } from "./virtual";

test("rows in view are drawn, and some more at both ends", () => {
  assert.deepEqual(sliceOf(3200, 640, 32, 10_000), { start: 88, end: 132 });
});

test("the ends of the list are its ends", () => {
  assert.deepEqual(sliceOf(-200, 640, 32, 10_000), { start: 0, end: 26 });
  assert.deepEqual(sliceOf(10_000 * 32 - 640, 640, 32, 10_000), { start: 9968, end: 10_000 });
});

test("a list that is scrolled out of view still draws a row", () => {
  const { start, end } = sliceOf(1_000_000, 640, 32, 300);
  assert.ok(end > start && end <= 300 && start >= 0);
});
