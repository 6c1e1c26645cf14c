import assert from "node:assert/strict";
import { test } from "node:test";
import { memberText } from "../../../kit/text/raw";
import { session } from "./fixtures";
import { buildTurns, newInRequest, wordsOf } from "./transcript";

test("turns follow the events, a call with its result is one", () => {
  const given = session(
    [
      { t: 0, type: "agent_start", agent: "desk", pair: 1 },
      { t: 1, type: "human_wait", agent: "desk", pair: 2 },
      { t: 2, type: "human_input", agent: "desk", pair: 2 },
      { t: 3, type: "model_request", agent: "desk", pair: 3 },
      { t: 4, type: "model_response", agent: "desk", pair: 3 },
      { t: 5, type: "hook_triggered", agent: "desk", pair: 4 },
      { t: 6, type: "hook_completed", agent: "desk", pair: 4 },
      { t: 7, type: "tool_use", agent: "sub", pair: 5 },
      { t: 8, type: "tool_result", agent: "sub", pair: 5, error: true },
      { t: 9, type: "error", agent: "sub", error: true },
      { t: 10, type: "model_request", agent: "desk", pair: 6 },
      { t: 11, type: "human_wait", agent: "desk", pair: 7 },
    ],
    { sub: "desk" },
  );
  assert.deepEqual(
    buildTurns(given).map((turn) => [turn.kind, turn.event, turn.close, turn.depth, turn.previous]),
    [
      ["goal", 0, -1, 0, -1],
      ["person", 2, -1, 0, -1],
      ["request", 3, -1, 0, -1],
      ["assistant", 4, -1, 0, -1],
      ["tool", 7, 8, 1, -1],
      ["error", 9, -1, 1, -1],
      ["request", 10, -1, 0, 3],
      ["person", 11, -1, 0, -1],
    ],
  );
});

test("of a request only what is new is shown", () => {
  const first = { system: "Be brief.", messages: [{ role: "user", content: "hi" }] };
  assert.deepEqual(newInRequest(first), [
    { role: "system", text: "Be brief." },
    { role: "user", text: "hi" },
  ]);
  const second = {
    ...first,
    messages: [
      ...first.messages,
      { role: "assistant", content: "hello" },
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "user", content: "hi" },
    ],
  };
  // A second "hi" was said a second time.
  assert.deepEqual(newInRequest(second, first), [
    { role: "user", text: "hi" },
    { role: "user", text: "hi" },
  ]);
  // An agent that forgets the start of the conversation repeats nothing either.
  assert.deepEqual(newInRequest({ messages: second.messages.slice(2) }, second), []);
  assert.deepEqual(newInRequest({ messages: "text" }), []);
});

test("words of contents", () => {
  assert.equal(wordsOf([{ type: "text", text: "one" }, { type: "tool_use", name: "x" }, "two"]), "one\n\ntwo");
  assert.equal(wordsOf({ a: 1 }), '{\n  "a": 1\n}');
  assert.equal(wordsOf(null), "");
});

test("the raw text of a payload is cut out as it was sent", () => {
  const raw = '{"n": 1e400, "s":"a \\" } ,", "deep": [{"x": 1.0}] }';
  assert.equal(memberText(` {"id" : "1","payload": ${raw} ,"z":null}`, "payload"), raw);
  assert.equal(memberText('{"a":true,"b":-1.50}', "b"), "-1.50");
  assert.equal(memberText('{"a":[1,2],"b":"x\\\\"}', "b"), '"x\\\\"');
  assert.equal(memberText('{"a":1}', "b"), null);
  assert.equal(memberText("[1]", "b"), null);
});
