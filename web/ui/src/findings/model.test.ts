import assert from "node:assert/strict";
import { test } from "node:test";
import type { FindingRow } from "../api/types";
import { ACTIONS, actionsOf, numberOf, scopeOf, sessionsText, words } from "./model";

function finding(status: FindingRow["status"]): FindingRow {
  const none: string[] = [];
  return {
    status,
    scope: {
      environments: none,
      agent_ids: ["a"],
      event_types: none,
      tool_names: ["t"],
      hook_names: none,
      models: none,
      error_types: none,
    },
  } as unknown as FindingRow;
}

test("an open finding is acted on, a closed one is reopened", () => {
  assert.deepEqual(
    actionsOf(finding("recurring")).map(({ action }) => action),
    ["ack", "assign", "resolve", "mute", "dismiss"],
  );
  for (const status of ["resolved", "dismissed", "muted"] as const)
    assert.deepEqual(
      actionsOf(finding(status)).map(({ action }) => action),
      ["reopen"],
    );
});

// test_filing.py and test_actions.py of tests/shared/watch/audits run an audit after each of them.
test("each action says what later runs of audits do", () => {
  const about = Object.fromEntries(ACTIONS.map((one) => [one.action, one.about]));
  assert.equal(about["resolve"], "If a later run finds it again, a new finding opens.");
  assert.equal(about["mute"], "No audit of the organization reports or counts it until somebody reopens it.");
  assert.equal(
    about["dismiss"],
    "It is no problem: no audit of the organization reports or counts it until somebody reopens it.",
  );
});

test("the scope names what a finding is about", () => {
  assert.deepEqual(
    scopeOf(finding("open")).map(({ label }) => label),
    ["Agents", "Tools"],
  );
  assert.equal(words("error_cluster"), "Error cluster");
});

test("numbers have their units", () => {
  assert.deepEqual(numberOf("failure_rate", 0.566), { label: "Failure rate", value: "56.6 %" });
  assert.deepEqual(numberOf("highest_fill", 1), { label: "Highest fill", value: "100 %" });
  assert.deepEqual(numberOf("median_before_ms", 1500), { label: "Median before", value: "1.5 s" });
  assert.deepEqual(numberOf("calls", 12_000), { label: "Calls", value: "12.0k" });
});

test("the evidence says how many sessions it leaves out", () => {
  const evidence = (numbers: Record<string, number>) => ({
    evidence: { session_ids: ["a", "b"], event_ids: [], numbers },
  });
  assert.equal(sessionsText(evidence({ failed_sessions: 30 })), "the newest 2 of 30 sessions");
  assert.equal(sessionsText(evidence({ sessions: 90, filled_sessions: 30 })), "the newest 2 of 30 sessions");
  assert.equal(sessionsText(evidence({ sessions: 90, outlier_sessions: 2 })), "2 sessions");
  assert.equal(sessionsText(evidence({ sessions: 2 })), "2 sessions");
});
