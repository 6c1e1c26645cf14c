import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventSummary } from "../api/types";
import { arrived, mergedEvents } from "./model";

const row = (id: number, second: number) => ({ id, ts: `2026-11-02T08:00:${second}.000000Z` }) as EventSummary;
const ids = (rows: readonly EventSummary[]) => rows.map(({ id }) => id);

test("new events come to the front, late ones to their place", () => {
  const rows = [row(3, 30), row(2, 20), row(1, 10)];
  const { fresh, gap } = arrived(rows, [row(5, 40), row(3, 30), row(4, 25), row(2, 20)]);
  assert.deepEqual([ids(fresh), gap], [[5, 4], false]);
  assert.deepEqual(ids(mergedEvents(rows, fresh)), [5, 3, 4, 2, 1]);
  assert.deepEqual(ids(mergedEvents(rows, [])), [3, 2, 1]);
});

test("a page without a known event may leave a gap", () => {
  assert.equal(arrived([row(1, 10)], [row(3, 30), row(2, 20)]).gap, true);
  assert.equal(arrived([], [row(3, 30)]).gap, false);
  assert.equal(arrived([row(1, 10)], []).gap, false);
});
