import assert from "node:assert/strict";
import { test } from "node:test";
import { breakdown, quantile } from "./breakdown";
import { countOnes, NO_FILTERS, passing, rowsWith } from "./filters";
import { matches, nextOne, rankOf } from "./find";
import { type Given, session } from "./fixtures";
import { argumentsOf, rowSum, rowText } from "./row-text";
import { axisOf, durationOf, isFailed, openCalls, spanOf } from "./session";
import { parentsOf, visibleRows } from "./tree";

const RUN: Given[] = [
  { t: 0, type: "agent_start", agent: "desk", pair: 1, summary: "book a trip" },
  { t: 10, type: "model_request", agent: "desk", name: "gpt-4o", pair: 2 },
  {
    t: 500,
    type: "model_response",
    agent: "desk",
    name: "gpt-4o",
    pair: 2,
    duration: 480,
    input: 100,
    output: 20,
    cost: 0.25,
    summary: "gpt-4o → tool_use, 100+20 tokens",
  },
  { t: 510, type: "tool_use", agent: "desk", name: "search", pair: 3, summary: 'search({"from":"JFK","to":"SF' },
  { t: 520, type: "agent_start", agent: "flights", pair: 4, summary: "find flights" },
  { t: 530, type: "tool_use", agent: "flights", name: "fetch", pair: 5, summary: "fetch({})" },
  { t: 900, type: "tool_result", agent: "flights", name: "fetch", pair: 5, error: true, summary: "fetch → refused" },
  { t: 910, type: "agent_end", agent: "flights", pair: 4 },
  { t: 1000, type: "tool_result", agent: "desk", name: "search", pair: 3 },
  { t: 1010, type: "error", agent: "desk", name: "ToolError", error: true, summary: "ToolError: refused" },
];
const run = () => session(RUN, { flights: "desk" });
const titles = (rows: Int32Array, of = run()) =>
  [...rows].map((row) => `${of.rows.level[row]} ${rowText(of, row).title}`);

test("agents hold their calls and agents, a pair is one row", () => {
  const given = run();
  assert.deepEqual(titles(visibleRows(given.rows, new Set(), null)), [
    "1 desk",
    "2 gpt-4o",
    "2 search",
    "2 flights",
    "3 fetch",
    "2 ToolError",
  ]);
  assert.deepEqual([...given.rows.ofEvent], [0, 1, 1, 2, 3, 4, 4, 3, 2, 5]);
});

test("folding hides what an agent holds, and filters keep the agents around a row", () => {
  const given = run();
  assert.deepEqual(titles(visibleRows(given.rows, new Set([1]), null)), [
    "1 desk",
    "2 gpt-4o",
    "2 search",
    "2 flights",
    "2 ToolError",
  ]);
  const events = passing(given.outline, { ...NO_FILTERS, errored: true });
  assert.equal(countOnes(events), 2);
  assert.deepEqual(titles(visibleRows(given.rows, new Set(), rowsWith(given.rows, events))), [
    "1 desk",
    "2 flights",
    "3 fetch",
    "2 ToolError",
  ]);
  assert.equal(countOnes(passing(given.outline, { ...NO_FILTERS, names: ["fetch"], types: ["tool_use"] })), 1);
  assert.equal(countOnes(passing(given.outline, { ...NO_FILTERS, agents: ["nobody"] })), 0);
});

test("agents that are each other's parents still have their rows", () => {
  const given = session(
    [
      { t: 0, type: "note", agent: "a" },
      { t: 1, type: "note", agent: "b" },
      { t: 2, type: "note", agent: "c" },
    ],
    { a: "b", b: "a", c: "c" },
  );
  assert.deepEqual(titles(visibleRows(given.rows, new Set(), null), given).length, 6);
  assert.ok([...parentsOf(given.outline)].includes(-1));
});

test("agents nested ten thousand deep do no harm", () => {
  const events = Array.from({ length: 10_000 }, (_, n): Given => ({ t: n, type: "note", agent: `a${n}` }));
  const parents = Object.fromEntries(events.slice(1).map((event, n) => [event.agent!, `a${n}`]));
  assert.equal(session(events, parents).rows.length, 20_000);
});

test("durations are those of pairs, and what is open lasts until now", () => {
  const given = run();
  assert.equal(durationOf(given, 1, 5000), 480);
  assert.equal(durationOf(given, 3, 5000), 390);
  assert.equal(durationOf(given, 5, 5000), null);
  assert.deepEqual(spanOf(given, 0, 5000), { from: 0, to: 5000, open: true });
  assert.deepEqual(openCalls(given), []);
  const waiting = session(RUN.slice(0, 4), {});
  assert.deepEqual(openCalls(waiting), [2]);
  assert.ok(isFailed(given, 4) && !isFailed(given, 2));
});

test("the words of a row", () => {
  const given = run();
  assert.equal(rowText(given, 1).detail, "→ search, flights");
  assert.equal(rowText(given, 1).inputTokens, 100);
  assert.deepEqual([rowSum(given, 1, "costUsd"), rowSum(given, 2, "costUsd")], [0.25, null]);
  assert.equal(rowText(given, 2).detail, "from: JFK, to: SF");
  assert.equal(rowText(given, 5).detail, "refused");
  const hook = session([
    { t: 0, type: "hook_triggered", name: "policy", pair: 1, summary: "policy on PreToolUse" },
    { t: 2, type: "hook_completed", name: "policy", pair: 1, summary: "policy → allow" },
  ]);
  assert.equal(rowText(hook, 1).detail, "PreToolUse → allow");
  assert.equal(argumentsOf('book({"id":"a \\"b\\"","list":[1,2]})', "book"), 'id: a "b", list: [1, 2]');
  assert.equal(argumentsOf("book(plain words)", "book"), "plain words");
});

test("the breakdown adds up calls, errors, time and tokens", () => {
  const lines = breakdown(run());
  assert.deepEqual(
    lines.map((line) => [line.kind, line.name, line.calls, line.errors, line.time, line.tokens]),
    [
      ["tool", "search", 1, 0, 490, null],
      ["model", "gpt-4o", 1, 0, 480, 120],
      ["tool", "fetch", 1, 1, 370, null],
    ],
  );
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
  assert.equal(quantile([], 0.5), null);
});

test("find looks at summaries, names and agents, and adds what the server found", () => {
  const given = run();
  const bits = matches(given.outline, "REFUSED", null);
  assert.deepEqual(
    [...bits].flatMap((bit, n) => (bit ? [n] : [])),
    [6, 9],
  );
  assert.equal(countOnes(matches(given.outline, "refused", new Set([0]))), 3);
  assert.equal(countOnes(matches(given.outline, "(", null)), 2);
  assert.deepEqual(
    [nextOne(bits, -1, 1), nextOne(bits, 6, 1), nextOne(bits, 9, 1), nextOne(bits, 6, -1), nextOne([0, 0], 0, 1)],
    [6, 9, 6, 9, -1],
  );
  assert.equal(rankOf(bits, 9), 2);
});

test("waits of people fold, calls at work do not", () => {
  const minute = 60_000;
  const given = session([
    { t: 0, type: "agent_start", pair: 1 },
    { t: 10, type: "human_wait", pair: 2 },
    { t: 2 * minute, type: "human_input", pair: 2 },
    { t: 2 * minute, type: "tool_use", pair: 3, name: "slow" },
    { t: 4 * minute, type: "tool_result", pair: 3, name: "slow" },
  ]);
  assert.deepEqual(
    axisOf(given, 0, false, true).gaps.map((gap) => [gap.from, gap.to]),
    [[10, 2 * minute]],
  );
  assert.equal(axisOf(given, 0, false, false).gaps.length, 0);
});
