import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditRow, AuditRunRow } from "../api/types";
import { awaitsFirstRun, bodyOf, draftOf, isBehind, outcomeText, scheduleText, scopeText } from "./model";

const AUDIT = {
  name: "nightly",
  description: null,
  enabled: true,
  schedule_interval_secs: 86_400,
  window_mode: "fixed",
  lookback_window_secs: 14_400,
  scope: { environments: ["production"], agent_ids: [] },
  signals: ["tool_loop"],
  ignore_error_types: [],
  sensitivity: "high",
  top_k: 10,
  llm_enabled: false,
  channels: [{ kind: "email", recipients: ["ada@example.com"] }],
} as unknown as AuditRow;

test("an audit and its form lead to each other", () => {
  const {
    name,
    description,
    enabled,
    window_mode,
    scope,
    signals,
    ignore_error_types,
    sensitivity,
    top_k,
    llm_enabled,
    channels,
  } = AUDIT;
  assert.deepEqual(bodyOf(draftOf(AUDIT)), {
    name,
    description,
    enabled,
    window_mode,
    scope,
    signals,
    ignore_error_types,
    sensitivity,
    top_k,
    llm_enabled,
    channels,
    schedule_interval_secs: 86_400,
    lookback_window_secs: 14_400,
  });
});

test("a new audit has the defaults of the API", () => {
  const body = bodyOf(draftOf(null));
  assert.equal(body.schedule_interval_secs, 86_400);
  assert.equal(body.top_k, 50);
});

test("what is no span is left to the server", () => {
  assert.equal(bodyOf({ ...draftOf(null), schedule_interval_secs: "often" }).schedule_interval_secs, "often");
});

test("an audit in words", () => {
  assert.equal(scheduleText(AUDIT), "every 1 d, the last 4 h");
  assert.equal(scopeText(AUDIT), "production");
  assert.equal(scopeText({ ...AUDIT, scope: { environments: [], agent_ids: ["a", "b", "c"] } }), "3 agents");
  assert.equal(scopeText({ ...AUDIT, scope: { environments: [], agent_ids: [] } }), "everything");
});

test("a run says what it read, or why it failed", () => {
  const run = (changes: Partial<AuditRunRow>) =>
    outcomeText({ stats: { events: 2721, total_sessions: 60 }, error: null, ...changes } as AuditRunRow);
  assert.deepEqual(run({}), { text: "2,721 events of 60 sessions", failed: false });
  assert.deepEqual(run({ stats: { events: 1, total_sessions: 1, report_error: "timeout" } }), {
    text: "1 event of 1 session; no report: timeout",
    failed: false,
  });
  assert.deepEqual(run({ error: "out of time" }), { text: "out of time", failed: true });
});

test("a new audit waits for its first run", () => {
  const made = {
    ...AUDIT,
    last_attempted_at: null,
    created_at: "2026-11-02T07:00:00Z",
    updated_at: "2026-11-02T07:00:00Z",
  };
  assert.equal(awaitsFirstRun(made), true);
  assert.equal(awaitsFirstRun({ ...made, last_attempted_at: made.created_at }), false);
  // Switched on later, it waits for its schedule.
  assert.equal(awaitsFirstRun({ ...made, updated_at: "2026-11-03T07:00:00Z" }), false);
  assert.equal(awaitsFirstRun({ ...made, enabled: false }), false);
});

test("an audit and its runs are of one moment, or read again", () => {
  const ended = { status: "succeeded", finished_at: "2026-11-02T07:00:00Z" } as AuditRunRow;
  const audit = { ...AUDIT, last_run_status: "succeeded", last_run_finished_at: ended.finished_at } as AuditRow;
  assert.equal(isBehind(audit, ended), false);
  assert.equal(isBehind(audit, undefined), true);
  assert.equal(isBehind(audit, { ...ended, status: "running", finished_at: null }), true);
  assert.equal(isBehind(audit, { ...ended, finished_at: "2026-11-03T07:00:00Z" }), true);
  assert.equal(
    isBehind({ ...audit, last_run_status: null, last_run_finished_at: null } as unknown as AuditRow, undefined),
    false,
  );
});
