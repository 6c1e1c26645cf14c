import assert from "node:assert/strict";
import { test } from "node:test";
import { contextByAgent, latestContext } from "./context";
import { type Given, session } from "./fixtures";
import { axisOf } from "./session";

const answer = (t: number, agent: string, input: number, window: number): Given => ({
  t,
  type: "model_response",
  agent,
  name: `m-${window}`,
  input,
  output: 10,
  fill: Number(((input + 10) / window).toFixed(4)),
});

test("each agent has a line, with the highest share of a column", () => {
  const given = session([
    { t: 0, type: "agent_start", agent: "desk" },
    answer(10, "desk", 1000, 128_000),
    answer(10, "desk", 3000, 128_000),
    answer(500, "flights", 2000, 8000),
    answer(1000, "desk", 6000, 128_000),
  ]);
  const scene = { session: given, axis: axisOf(given, 1000, false, true), now: 1000 };
  const lines = contextByAgent(scene, 100);
  assert.deepEqual(
    lines.map(({ agent, columns }) => [agent, columns]),
    [
      [0, [1, 100]],
      [1, [50]],
    ],
  );
  assert.deepEqual(lines[0]!.fills, [0.0235, 0.047]);
  assert.equal(lines[0]!.latest, 0.047);
});

test("the window of the newest model follows from its shares", () => {
  const many = Array.from({ length: 9 }, (_, n) => answer(n, "desk", 1500 + n * 37, 128_000));
  assert.deepEqual(latestContext(session([answer(0, "desk", 500, 8000), ...many]).outline), {
    fill: 0.0141,
    window: 128_000,
  });
  assert.deepEqual(latestContext(session([answer(0, "desk", 100, 1_000_000)]).outline), { fill: 0.0001, window: null });
  assert.equal(latestContext(session([{ t: 0, type: "note" }]).outline), null);
});
