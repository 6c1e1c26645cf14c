import assert from "node:assert/strict";
import { test } from "node:test";
import { added, type Frame, framesIn, NOTHING, textOf } from "./frames";

const run: Frame[] = [
  { type: "tool-start", tool: "count_errors", input: {} },
  { type: "tool-end", tool: "count_errors", ok: true, rows: 3, ms: 12 },
  { type: "text-delta", text: "Three " },
  { type: "text-delta", text: "failed." },
  { type: "done", usage: {} },
];

test("whole frames are read, the rest waits", () => {
  const text = ': alive\n\nid: t:1-0\ndata: {"type":"text-delta","text":"a\\n\\nb"}\n\nid: t:2-0\nda';
  const { frames, rest } = framesIn(text);
  assert.deepEqual(frames, [{ id: "t:1-0", frame: { type: "text-delta", text: "a\n\nb" } }]);
  assert.equal(rest, "id: t:2-0\nda");
});

test("an answer grows frame by frame", () => {
  const answer = run.reduce(added, NOTHING);
  assert.deepEqual(answer.parts, [
    { run: { tool: "count_errors", input: {}, ended: { ok: true, rows: 3, ms: 12 } } },
    { text: "Three failed." },
  ]);
  assert.equal(answer.ended, true);
  assert.equal(textOf(answer), "Three failed.");
});

test("an error keeps what was said", () => {
  const answer = added(added(NOTHING, run[2]!), { type: "error", message: "Ask again." });
  assert.deepEqual([answer.error, answer.ended, textOf(answer)], ["Ask again.", true, "Three "]);
});
