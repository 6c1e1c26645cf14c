import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, BASE, type Given, random } from "./fixtures";
import { emptyOutline, indexOfEvent, merge, microseconds } from "./outline";

const events: Given[] = Array.from({ length: 40 }, (_, n) => ({
  id: n + 100,
  t: Math.floor(n / 4),
  type: n % 2 ? "note" : "error",
  agent: `a${n % 3}`,
  summary: `no ${n}`,
}));
const page = (from: number, to: number) =>
  answer(
    events.slice(from, to),
    {},
    {
      offset: from,
      total: 40,
      base_ts: BASE,
      prev_cursor: from > 0 ? "p" : null,
      next_cursor: to < 40 ? "n" : null,
    },
  );

test("a page around an event and the pages on both sides give the order of the server", () => {
  const ids = new Set<number>();
  let outline = merge(emptyOutline(), page(18, 25), "first", ids);
  assert.deepEqual([outline.before, outline.after], [18, 15]);
  outline = merge(outline, page(25, 40), "after", ids);
  outline = merge(outline, page(5, 18), "before", ids);
  assert.deepEqual([outline.before, outline.after], [5, 0]);
  outline = merge(outline, page(0, 5), "before", ids);
  assert.deepEqual(
    [...outline.id],
    events.map((event) => event.id),
  );
  assert.deepEqual([outline.before, outline.after], [0, 0]);
  events.forEach((_, n) => {
    assert.equal(outline.types[outline.type[n]!], events[n]!.type);
    assert.equal(outline.agents[outline.agent[n]!]!.agent_id, events[n]!.agent);
    assert.equal(outline.summary[n], events[n]!.summary);
  });
});

test("events that arrived since go to their moments, after those of the same moment, and known ids are dropped", () => {
  const ids = new Set<number>();
  const first = merge(
    emptyOutline(),
    answer([
      { id: 1, t: 0, type: "x" },
      { id: 2, t: 5, type: "x" },
    ]),
    "first",
    ids,
  );
  const since = merge(
    first,
    answer([
      { id: 9, t: 0, type: "y" },
      { id: 2, t: 5, type: "x" },
      { id: 3, t: 6, type: "x" },
    ]),
    "since",
    ids,
  );
  assert.deepEqual([...since.id], [1, 9, 2, 3]);
  assert.equal(since.types[since.type[1]!], "y");
  assert.equal(indexOfEvent(since, "3"), 3);
  assert.equal(indexOfEvent(since, "gone"), -1);
  const again = merge(since, answer([{ id: 3, t: 6, type: "x" }]), "since", ids);
  assert.equal(again.length, 4);
});

test("pages whose events begin at another moment are put on one clock", () => {
  const ids = new Set<number>();
  const first = merge(emptyOutline(), answer([{ id: 1, t: 0, type: "x" }]), "first", ids);
  const later = answer([{ id: 2, t: 0, type: "x" }], {}, { base_ts: "2026-11-01T20:43:24.080001Z" });
  const both = merge(first, later, "since", ids);
  assert.equal(both.ts[1]! - both.ts[0]!, 1_000_001);
});

test("microseconds keep every digit and refuse what is no UTC time", () => {
  assert.equal(microseconds("1970-01-01T00:00:01.000007Z"), 1_000_007);
  assert.equal(microseconds("1970-01-01T00:00:01+00:00"), 1_000_000);
  assert.equal(microseconds("1970-01-01T00:00:01.5Z"), 1_500_000);
  assert.throws(() => microseconds("1970-01-01T00:00:01+01:00"));
});

test("100,000 events in pages of 20,000 merge without long pauses", () => {
  const chance = random(7);
  const many: Given[] = Array.from({ length: 100_000 }, (_, n) => ({
    id: n,
    t: n,
    type: "note",
    summary: `s ${chance()}`,
  }));
  const ids = new Set<number>();
  let outline = emptyOutline();
  let longest = 0;
  for (let from = 0; from < many.length; from += 20_000) {
    const body = answer(many.slice(from, from + 20_000), {}, { offset: from, total: many.length, next_cursor: "n" });
    const start = performance.now();
    outline = merge(outline, body, from ? "after" : "first", ids);
    longest = Math.max(longest, performance.now() - start);
  }
  assert.equal(outline.length, 100_000);
  assert.ok(longest < 1000, `${longest} ms`);
});
