import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeOf, stepped } from "./virtual";

test("rows in view are drawn, and some more at both ends", () => {
  assert.deepEqual(rangeOf(96, 20, 10_000, 8), { first: 88, last: 132 });
});

test("the ends of the list are its ends", () => {
  assert.deepEqual(rangeOf(-8, 20, 10_000, 8), { first: 0, last: 28 });
  assert.deepEqual(rangeOf(9984, 20, 10_000, 8), { first: 9972, last: 10_000 });
  assert.deepEqual(rangeOf(0, 20, 0, 8), { first: 0, last: 0 });
});

test("a list that is scrolled out of view still draws a row", () => {
  for (const top of [-1000, 31_250]) {
    const { first, last } = rangeOf(top, 20, 300, 8);
    assert.ok(last > first && last <= 300 && first >= 0);
  }
});

test("a step ends at the ends of the list", () => {
  assert.deepEqual([stepped(3, 1, 10), stepped(9, 1, 10), stepped(0, -1, 10)], [4, 9, 0]);
  assert.deepEqual([stepped(3, 20, 10), stepped(3, -Infinity, 10)], [9, 0]);
});

test("without a row the first step enters the list from its end", () => {
  assert.deepEqual([stepped(-1, 1, 10), stepped(-1, -1, 10)], [0, 9]);
});
