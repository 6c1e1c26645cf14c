import assert from "node:assert/strict";
import { test } from "node:test";
import type { EvaluationJob, Session } from "../api/types";
import { lasted, merged, outcomeOf, outcomeWords, scoreOf, stateOf } from "./model";

const NOW = Date.parse("2026-11-02T08:00:00Z");

function session(id: string, changes: Partial<Session> = {}): Session {
  return {
    session_id: id,
    agent_id: "a",
    agents: [{ agent_id: "a", event_count: 1 }],
    environment: "e",
    event_count: 1,
    error_count: 0,
    started_at: "2026-11-02T07:00:00Z",
    last_event_at: "2026-11-02T07:01:16Z",
    ended_at: null,
    outcome: null,
    failed: false,
    first_event_id: 1,
    last_event_id: 1,
    input_tokens: 0,
    output_tokens: 0,
    user_id: null,
    agent_version: null,
    tags: [],
    attributes: {},
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    reasoning_tokens: 0,
    model_calls: 0,
    unpriced_calls: 0,
    cost_usd: null,
    reported_usd: null,
    computed_usd: null,
    latest_evaluation: null,
    ...changes,
  };
}

test("a session runs, is idle, or has ended", () => {
  assert.equal(stateOf(session("a", { last_event_at: "2026-11-02T07:55:01Z" }), NOW), "Running");
  assert.equal(stateOf(session("a", { last_event_at: "2026-11-02T07:55:00Z" }), NOW), "Idle");
  assert.equal(stateOf(session("a", { ended_at: "2026-11-02T07:01:16Z" }), NOW), "Ended");
  assert.equal(lasted(session("a")), 76_000);
});

test("a missing score has a reason", () => {
  const queued = { status: "pending" } as EvaluationJob;
  const ended = session("a", { ended_at: "2026-11-02T07:01:16Z" });
  const with_ = (status: string, scores: Record<string, number> | null) =>
    session("a", { latest_evaluation: { status, scores } as Session["latest_evaluation"] });
  assert.equal(scoreOf(with_("done", { reward: 0 }), "reward", undefined, NOW), 0);
  assert.equal(scoreOf(with_("done", { other: 1 }), "reward", undefined, NOW), "–");
  assert.equal(scoreOf(with_("timeout", null), "reward", undefined, NOW), "timeout");
  assert.equal(scoreOf(session("a"), "reward", undefined, NOW), "not ended");
  assert.equal(scoreOf(session("a"), "reward", queued, NOW), "idle, queued");
  assert.equal(scoreOf(ended, "reward", queued, NOW), "queued");
  assert.equal(scoreOf(ended, null, undefined, NOW), "waiting");
});

test("page 1 comes to the front, or waits while the list is held", () => {
  const rows = [session("b"), session("c")];
  const first = [session("a"), session("c", { event_count: 9 }), session("b")];
  const ids = (list: readonly Session[]) => list.map(({ session_id }) => session_id);
  const free = merged(rows, first, false);
  assert.deepEqual([ids(free.rows), free.waiting], [["a", "c", "b"], 0]);
  const held = merged(rows, first, true);
  assert.deepEqual([ids(held.rows), held.waiting, held.rows[1]!.event_count], [["b", "c"], 1, 9]);
  assert.deepEqual(ids(merged([...rows, session("z")], first, false).rows), ["a", "c", "b", "z"]);
});

test("the outcome is that of a root agent that has ended", () => {
  const ended = { ended_at: "2026-11-02T07:01:16Z" };
  assert.equal(outcomeOf(session("a", { outcome: "success" })), null);
  assert.equal(outcomeOf(session("a", ended)), null);
  assert.deepEqual(outcomeOf(session("a", { ...ended, outcome: "success" })), { kind: "success", text: "success" });
  assert.deepEqual(outcomeOf(session("a", { ...ended, outcome: "handed over" })), {
    kind: "other",
    text: "handed over",
  });
  assert.deepEqual(outcomeOf(session("a", { ...ended, outcome: "timeout", failed: true })), {
    kind: "failed",
    text: "timeout",
  });
  assert.deepEqual(outcomeOf(session("a", { ...ended, failed: true })), { kind: "failed", text: "" });
});

test("an outcome in words says whether it is a failure", () => {
  const words = (changes: object) =>
    outcomeWords(outcomeOf(session("a", { ended_at: "2026-11-02T07:01:16Z", ...changes }))!);
  assert.equal(words({ outcome: "failed", failed: true }), "Failed");
  assert.equal(words({ outcome: "timeout", failed: true }), "Failed: timeout");
  // The end reports an error, whatever its outcome says.
  assert.equal(words({ outcome: "success", failed: true }), "Failed");
  assert.equal(words({ outcome: "success" }), "Success");
  assert.equal(words({ outcome: "handed over" }), "handed over");
});
