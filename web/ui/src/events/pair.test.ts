import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outline } from "../api/types";
import { familyOf, pairOf } from "./pair";

/** An outline of rows [id, type, pair, microseconds, duration]. */
function outline(...rows: [number, number, number, number, (number | null)?][]): Outline {
  const column = (at: number) => rows.map((row) => row[at] ?? null);
  const columns = {
    id: column(0),
    type: column(1),
    pair: column(2),
    t: column(3),
    duration_ms: column(4),
    summary: rows.map(([id]) => `event ${id}`),
  };
  return { base_ts: "2026-11-02T08:00:00.000000Z", types: ["tool_use", "tool_result"], columns } as unknown as Outline;
}
const TOOL = familyOf("tool_result")!;

test("a start and an end with one key are a pair", () => {
  const rows = outline([1, 0, 7, 0], [2, 0, 8, 500_000], [3, 1, 7, 1_500_000], [4, 1, 8, 2_000_000, 900]);
  const pair = pairOf(rows, 3, TOOL);
  assert.ok(typeof pair === "object");
  assert.deepEqual([pair.start.id, pair.end.id, pair.latency, pair.end.ts], [1, 3, 1500, "2026-11-02T08:00:01.500Z"]);
  const reported = pairOf(rows, 2, TOOL);
  assert.equal(typeof reported === "object" && reported.latency, 900);
});

test("without another event it is open, without one key of its own unclear", () => {
  assert.equal(pairOf(outline([1, 0, 7, 0]), 1, TOOL), "open");
  assert.equal(pairOf(outline([1, 0, 7, 0], [2, 0, 7, 1], [3, 1, 7, 2]), 1, TOOL), "unclear");
  assert.equal(pairOf(outline([1, 0, 0, 0], [3, 1, 0, 2]), 1, TOOL), "unclear");
});

test("most types belong to no pair", () => {
  assert.equal(familyOf("error"), null);
  assert.deepEqual(familyOf("agent_end"), ["agent_start", "agent_end"]);
});
