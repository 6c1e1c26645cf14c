import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, groupingOf } from "./model";

test("bars begin where the bins begin", () => {
  assert.deepEqual(barsOf({ bins: [3, 0, 1], bounds: { from_ms: 1000, to_ms: 4000 } }), {
    times: [1000, 2000, 3000],
    counts: [3, 0, 1],
  });
  assert.deepEqual(barsOf({ bins: [], bounds: { from_ms: 0, to_ms: 0 } }), { times: [], counts: [] });
});

test("an unknown grouping is the first one", () => {
  assert.equal(groupingOf("tool_name").label, "By tool");
  assert.equal(groupingOf("nothing").id, "message");
  assert.equal(groupingOf(null).id, "message");
});
