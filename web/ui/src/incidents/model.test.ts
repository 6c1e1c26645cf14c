import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActivityRow, IncidentDetail, IncidentRow } from "../api/types";
import { activityText, entries, eventsSearch, evidenceOf, evidenceSql, sections, summaryText } from "./model";

const NOW = new Date("2026-11-10T00:00:00Z");

function incident(changes: Partial<IncidentRow>): IncidentRow {
  return { id: "i", title: "t", state: "firing", resolved_at: null, evidence: null, ...changes } as IncidentRow;
}

function entry(kind: ActivityRow["kind"], detail: ActivityRow["detail"] = {}): ActivityRow {
  return { kind, actor: "ada@example.com", at: "2026-11-02T00:00:00Z", detail };
}

test("resolved incidents stay in the list for a week", () => {
  const rows = [
    incident({ id: "a" }),
    incident({ id: "b", state: "resolved", resolved_at: "2026-11-03T00:00:01Z" }),
    incident({ id: "c", state: "resolved", resolved_at: "2026-11-02T23:59:59Z" }),
  ];
  assert.deepEqual(sections(rows, NOW).map((one) => one.rows.map(({ id }) => id)), [["a"], [], ["b"]]);
});

test("the history is told in sentences", () => {
  assert.equal(activityText(entry("breached", { count: 8, summary: "x was 2" })), "breached 8 more times: x was 2");
  assert.equal(activityText(entry("breached")), "breached once more");
  assert.equal(activityText(entry("assigned", { assignees: ["bob@example.com"] })), "assigned it to bob@example.com");
  assert.equal(activityText(entry("assigned", { assignees: [] })), "removed the assignees");
});

test("comments stand in the history where they were made", () => {
  const comment = { id: "c1", author_email: "ada@example.com", body: "hello" };
  const detail = { activity: [entry("opened"), entry("commented")], comments: [comment] } as unknown as IncidentDetail;
  assert.deepEqual(entries(detail).map((one) => one.comment?.body ?? null), [null, "hello"]);
});

test("what the service does by itself has no actor", () => {
  const own = (kind: ActivityRow["kind"], detail: ActivityRow["detail"] = {}) => activityText({ ...entry(kind, detail), actor: "system" });
  assert.equal(own("opened", { summary: "x was 2 (> 1)" }), "Opened by the rule: x was 2 (> 1)");
  assert.equal(own("resolved"), "Resolved by itself");
});

test("rates are percentages", () => {
  assert.equal(summaryText("error_rate was 0.107143 over the last 4 h (> 0.05)"), "error_rate was 10.7 % over the last 4 h (> 5.0 %)");
  assert.equal(summaryText("token_sum was 1200 over the last 4 h (> 5)"), "token_sum was 1200 over the last 4 h (> 5)");
});

const WINDOW = { from: "2026-11-02T00:00:00Z", to: "2026-11-02T04:00:00Z" };
const BOUNDS = { ts_from: WINDOW.from, ts_to: WINDOW.to };

test("evidence leads to the events that were counted", () => {
  const evidence = {
    metric: "error_rate", op: ">", bound: 0.05, filter: { event_type: "tool_result" }, counts: { events: 92, errors: 1 },
    window: WINDOW, event_ids: [1], session_ids: ["s1"],
  };
  const found = evidenceOf(incident({ evidence }));
  assert.deepEqual(found, {
    query: { event_type: "tool_result", errored: true, ...BOUNDS }, chosen: null, sessions: ["s1"], result: null, counts: "92 events, 1 error",
  });
  assert.equal(`${eventsSearch(found.query!)}`, "event_type=tool_result&errored=true&from=2026-11-02T00%3A00%3A00Z&to=2026-11-02T04%3A00%3A00Z");
  assert.match(evidenceSql(found.query!), /event_type IN \('tool_result'\)\n {2}AND is_error\n {2}AND ts >= /);
});

test("where filters find more than what breached, the events are named", () => {
  const message = { metric: "matching_events", filter: { event_type: "error", message_contains: "payment" }, window: WINDOW, event_ids: [3, 1], session_ids: ["s"] };
  const found = evidenceOf(incident({ evidence: message }));
  assert.deepEqual([found.query, found.chosen], [{ event_type: "error", search: "payment", ...BOUNDS }, [3, 1]]);
  assert.deepEqual(evidenceOf(incident({ evidence: { metric: "p95_latency_ms", window: WINDOW, event_ids: [7] } })).chosen, [7]);
});

test("evidence without events is sessions, rows or nothing", () => {
  const scores = { metric: "reward", window: WINDOW, evaluation_ids: ["e"], session_ids: ["s"] };
  assert.deepEqual([evidenceOf(incident({ evidence: scores })).query, evidenceOf(incident({ evidence: scores })).sessions], [null, ["s"]]);
  const rows = { columns: ["a"], rows: [[1]], counts: { rows: 1, truncated: false } };
  assert.deepEqual(evidenceOf(incident({ evidence: rows })).result, { columns: ["a"], rows: [[1]] });
  assert.equal(evidenceOf(incident({ evidence: rows })).counts, "1 row");
  assert.equal(evidenceOf(incident({ evidence: null })).query, null);
  assert.deepEqual(evidenceOf(incident({ evidence: { window: 3, filter: [], session_ids: "x" } })).sessions, []);
});
