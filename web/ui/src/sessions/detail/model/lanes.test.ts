import assert from "node:assert/strict";
import { test } from "node:test";
import { session } from "./fixtures";
import { buildLanes, contextLine, eachRun, MARK } from "./lanes";
import { axisOf } from "./session";

const events = [
  { t: 0, type: "agent_start", pair: 1 },
  { t: 0, type: "model_request", pair: 2 },
  { t: 5000, type: "model_response", pair: 2, fill: 0.1 },
  { t: 5000, type: "tool_use", pair: 3 },
  { t: 10_000, type: "tool_result", pair: 3, error: true, fill: 0.3 },
];

test("one agent has a lane for each kind", () => {
  const given = session(events);
  const axis = axisOf(given, 0, false, true);
  const lanes = buildLanes(given, axis, 10, 10_000);
  assert.equal(lanes.length, 4);
  assert.deepEqual([...lanes[1]!.marks], [4, 4, 4, 4, 4, 0, 0, 0, 0, 0]);
  assert.deepEqual([...lanes[2]!.marks], [0, 0, 0, 0, 0, 7, 7, 7, 7, 7]);
  assert.deepEqual(contextLine(given, axis, 10), [
    [5, 0.1],
    [10, 0.3],
  ]);
});

test("several agents have a lane each, and more than there is room for share the last", () => {
  const many = session(Array.from({ length: 30 }, (_, n) => ({ t: n, type: "note", agent: `a${n}` })));
  const lanes = buildLanes(many, axisOf(many, 0, false, true), 50, 30);
  assert.equal(lanes.length, 12);
  assert.ok(lanes[11]!.marks.filter(Boolean).length > 10);
});

test("runs of equal marks are drawn as one", () => {
  const runs: number[][] = [];
  eachRun(Uint8Array.of(0, MARK.tool, MARK.tool, 0, MARK.error), (...run) => runs.push(run));
  assert.deepEqual(runs, [
    [MARK.tool, 1, 3],
    [MARK.error, 4, 5],
  ]);
});
