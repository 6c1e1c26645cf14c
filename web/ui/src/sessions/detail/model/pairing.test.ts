import assert from "node:assert/strict";
import { test } from "node:test";
import { familyCode } from "./families";
import { random } from "./fixtures";
import { type PairInput, pairEvents } from "./pairing";

interface Event {
  type: string;
  key?: number;
  agent?: number;
  t?: number;
  duration?: number;
}

function input(events: Event[]): PairInput {
  return {
    code: Uint8Array.from(events, (event) => familyCode(event.type)),
    agent: Int32Array.from(events, (event) => event.agent ?? 0),
    key: Float64Array.from(events, (event) => event.key ?? 0),
    ts: Float64Array.from(events, (event, index) => (event.t ?? index) * 1000),
    durationMs: Float64Array.from(events, (event) => event.duration ?? NaN),
  };
}

const partners = (events: Event[]) => [...pairEvents(input(events)).partner];

test("an end takes the oldest open start with its key", () => {
  assert.deepEqual(
    partners([
      { type: "tool_use", key: 5 },
      { type: "tool_use", key: 5 },
      { type: "tool_result", key: 5 },
      { type: "tool_result", key: 5 },
    ]),
    [2, 3, 0, 1],
  );
});

test("one start and one end that are alone belong together in any order", () => {
  assert.deepEqual(
    partners([
      { type: "tool_result", key: 5 },
      { type: "tool_use", key: 5 },
    ]),
    [1, 0],
  );
  // With a second start they are not alone, so the early end stands for itself.
  assert.deepEqual(
    partners([
      { type: "tool_result", key: 5 },
      { type: "tool_use", key: 5 },
      { type: "tool_use", key: 5 },
    ]),
    [-1, -1, -1],
  );
});

test("keys are those of a family", () => {
  assert.deepEqual(
    partners([
      { type: "tool_use", key: 5 },
      { type: "hook_completed", key: 5 },
    ]),
    [-1, -1],
  );
  assert.deepEqual(
    partners([
      { type: "tool_use", key: 5, agent: 1 },
      { type: "tool_result", key: 5, agent: 2 },
    ]),
    [1, 0],
  );
});

test("without a key events pair in order within agent and family", () => {
  assert.deepEqual(
    partners([
      { type: "model_request", agent: 1 },
      { type: "model_request", agent: 2 },
      { type: "tool_use", agent: 1 },
      { type: "model_response", agent: 2 },
      { type: "model_response", agent: 1 },
      { type: "model_response", agent: 1 },
    ]),
    [4, 3, -1, 1, 0, -1],
  );
  // The rule for those that are alone is for keys only.
  assert.deepEqual(partners([{ type: "model_response" }, { type: "model_request" }]), [-1, -1]);
});

test("events of other types stay alone, also with names of JavaScript", () => {
  assert.deepEqual(partners([{ type: "note" }, { type: "constructor" }, { type: "__proto__" }]), [-1, -1, -1]);
});

test("the latency is the end's duration, else the difference of times, never below zero", () => {
  const { latencyMs } = pairEvents(
    input([
      { type: "tool_use", key: 1, t: 0 },
      { type: "tool_result", key: 1, t: 40, duration: 7 },
      { type: "tool_use", key: 2, t: 50 },
      { type: "tool_result", key: 2, t: 90 },
      { type: "tool_result", key: 3, t: 100 },
      { type: "tool_use", key: 3, t: 110 },
      { type: "tool_use", key: 4, t: 120 },
    ]),
  );
  assert.deepEqual([...latencyMs], [7, 7, 40, 40, 0, 0, NaN]);
});

/** The rules once more, slowly and without typed arrays. */
function slowly(events: Event[]): number[] {
  const partner = events.map(() => -1);
  const group = (event: Event) => {
    const family = familyCode(event.type) >> 1;
    return event.key ? `${family} key ${event.key}` : `${family} agent ${event.agent}`;
  };
  for (const name of new Set(events.filter((event) => familyCode(event.type)).map(group))) {
    const members = events
      .map((event, index) => ({ event, index }))
      .filter(({ event }) => familyCode(event.type) && group(event) === name);
    const closes = members.filter(({ event }) => familyCode(event.type) % 2 === 1);
    if (members[0]!.event.key && members.length === 2 && closes.length === 1) {
      partner[members[0]!.index] = members[1]!.index;
      partner[members[1]!.index] = members[0]!.index;
      continue;
    }
    const open: number[] = [];
    for (const { event, index } of members) {
      if (familyCode(event.type) % 2 === 0) open.push(index);
      else if (open.length) {
        const start = open.shift()!;
        partner[start] = index;
        partner[index] = start;
      }
    }
  }
  return partner;
}

test("shuffled arrivals pair as the rules say", () => {
  const types = ["tool_use", "tool_result", "model_request", "model_response", "agent_start", "agent_end", "note"];
  for (let seed = 1; seed <= 200; seed++) {
    const chance = random(seed);
    const events = Array.from(
      { length: 60 },
      (): Event => ({
        type: types[Math.floor(chance() * types.length)]!,
        key: Math.floor(chance() * 12),
        agent: Math.floor(chance() * 3),
      }),
    );
    assert.deepEqual(partners(events), slowly(events), `seed ${seed}`);
  }
});

function calls(count: number): Event[] {
  const chance = random(3);
  const events = Array.from(
    { length: count },
    (_, n): Event => ({
      type: n % 2 ? "tool_result" : "tool_use",
      key: 1 + Math.floor(n / 2) * 7919,
      agent: n % 5,
    }),
  );
  for (let n = events.length - 1; n > 0; n--) {
    const other = Math.max(0, n - Math.floor(chance() * 20));
    [events[n], events[other]] = [events[other]!, events[n]!];
  }
  return events;
}

test("13,000 events take well below 100 ms, and 100,000 no blink", () => {
  for (const [count, most] of [
    [13_000, 60],
    [100_000, 400],
  ] as const) {
    const given = input(calls(count));
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now();
      const { partner } = pairEvents(given);
      assert.ok(partner.every((other) => other >= 0));
      return performance.now() - start;
    });
    // The least: others use the processor as well.
    assert.ok(Math.min(...times) < most, `${count}: ${times.join(", ")} ms`);
  }
});
