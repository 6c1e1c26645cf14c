import assert from "node:assert/strict";
import { test } from "node:test";
import { aggregateQuery, linesOf, scoreNote, seriesOf, troubleOf } from "./model";

test("the chart asks for each agent in each environment", () => {
  assert.deepEqual(seriesOf("reward", ["a"], ["x", "y"]), [
    ["a", "x", "reward", "avg"],
    ["a", "y", "reward", "avg"],
  ]);
  assert.deepEqual(seriesOf("reward", [], ["x"]), [["*", "x", "reward", "avg"]]);
  const many = seriesOf(
    "reward",
    Array.from({ length: 30 }, (_, index) => `${index}`),
    [],
  );
  assert.equal((JSON.parse(aggregateQuery({}, many, 20)["series"] as string) as unknown[]).length, 24);
});

test("pairs that are known to have the score are asked for first, once", () => {
  const agents = Array.from({ length: 30 }, (_, index) => `a${index}`);
  const rare = [
    { agent_id: "a29", environment: "y" },
    { agent_id: "a29", environment: "y" },
  ];
  const series = seriesOf("reward", agents, ["x", "y"], rare);
  assert.deepEqual([series.length, series[0]], [60, ["a29", "y", "reward", "avg"]]);
});

test("an evaluator that is away is named with its last error", () => {
  const health = {
    state: "open" as const,
    failures: 12,
    since: null,
    last_error: "no answer",
    retry_at: "2026-11-02T00:00:00Z",
  };
  assert.match(troubleOf(health)!, /12 calls of the evaluator failed: no answer/);
  assert.equal(troubleOf({ ...health, state: "failing" }), null);
});

test("lines without a value are left out, gaps stay gaps", () => {
  const one = {
    agent_id: "a",
    environment: "x",
    key: "reward",
    agg: "avg" as const,
    points: [{ ts: "1", value: 0.5 }],
  };
  const empty = { ...one, agent_id: "b", points: [{ ts: "1", value: null }] };
  assert.deepEqual(linesOf([one, empty], ["1", "2"]), { lines: [{ name: "a · x", values: [0.5, null] }], others: 0 });
});

test("the eight lines with the most values stay, in their order", () => {
  const series = Array.from({ length: 10 }, (_, index) => ({
    agent_id: `${index}`,
    environment: "*",
    key: "reward",
    agg: "avg" as const,
    points: [
      { ts: "1", value: 1 },
      { ts: "2", value: index < 2 ? null : 1 },
    ],
  }));
  const { lines, others } = linesOf(series, ["1", "2"]);
  assert.deepEqual([lines.map(({ name }) => name), others], [["2", "3", "4", "5", "6", "7", "8", "9"], 2]);
});

test("a mean is shown with its range, and its number where not all results have it", () => {
  const stats = { key: "reward", count: 3, avg: 0.5, min: 0, max: 1, p50: 0.5 };
  assert.equal(scoreNote(stats, 3), "0.00 – 1.00");
  assert.equal(scoreNote(stats, 4), "0.00 – 1.00, of 3");
});
