import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActivityRow, IncidentDetail, IncidentEvidence, IncidentRow } from "../api/types";
import {
  activityText,
  breachText,
  entries,
  eventsSearch,
  evidenceOf,
  formatOf,
  levelMarks,
  moreText,
  spendingOf,
} from "./model";

/** Reads evidence of which only these fields matter. */
function evidence(fields: object | null, group: IncidentRow["group"] = null) {
  return evidenceOf({ evidence: fields as IncidentEvidence | null, group });
}

const NO_NAMES = { count: 1, summary: "", since: "2026-11-02T00:00:00Z", source: "alert" };

function entry(kind: ActivityRow["kind"], detail: object = {}): ActivityRow {
  return {
    kind,
    actor: "ada@example.com",
    at: "2026-11-02T00:00:00Z",
    detail: { ...NO_NAMES, ...detail },
  } as ActivityRow;
}

test("the history is told in sentences", () => {
  assert.equal(
    activityText(entry("breached", { count: 8, summary: "x was 2" }), "alert"),
    "breached 8 more times: x was 2",
  );
  assert.equal(activityText(entry("breached"), "alert"), "breached once more");
  assert.equal(
    activityText(entry("assigned", { assignees: ["bob@example.com"] }), "alert"),
    "assigned it to bob@example.com",
  );
  assert.equal(activityText(entry("assigned", { assignees: [] }), "alert"), "removed the assignees");
});

test("comments stand in the history where they were made", () => {
  const comment = { id: "c1", author_email: "ada@example.com", body: "hello" };
  const detail = { activity: [entry("opened"), entry("commented")], comments: [comment] } as unknown as IncidentDetail;
  assert.deepEqual(
    entries(detail).map((one) => one.comment?.body ?? null),
    [null, "hello"],
  );
});

test("what the service does by itself has no actor", () => {
  const own = (kind: ActivityRow["kind"], detail: object = {}, source: IncidentRow["source"] = "alert") =>
    activityText({ ...entry(kind, detail), actor: "system" }, source);
  assert.equal(own("opened", { summary: "x was 2 (> 1)" }), "Opened by the rule: x was 2 (> 1)");
  assert.equal(own("resolved"), "Resolved by itself");
  assert.equal(own("opened", {}, "audit"), "Opened by the audit");
  assert.equal(own("breached", { count: 2 }, "audit"), "Found 2 more times");
});

test("a rate is a percentage whatever the summary says", () => {
  const compared = { metric: "error_rate", value: 0.107143, op: ">", bound: 0.05 };
  assert.equal(breachText("whatever", compared), "error_rate was 10.7 % (> 5.0 %)");
  assert.equal(
    activityText(entry("breached", { ...compared, summary: "other words" }), "alert"),
    "breached once more: error_rate was 10.7 % (> 5.0 %)",
  );
  assert.equal(
    breachText("token_sum was 1200 (> 5)", { metric: "token_sum", value: 1200, op: ">", bound: 5 }),
    "token_sum was 1200 (> 5)",
  );
  assert.equal(breachText("reported by hand", null), "reported by hand");
});

const WINDOW = { from: "2026-11-02T00:00:00Z", to: "2026-11-02T04:00:00Z" };
const BOUNDS = { ts_from: WINDOW.from, ts_to: WINDOW.to };

test("evidence leads to the events that were counted", () => {
  const found = evidence({
    metric: "error_rate",
    op: ">",
    bound: 0.05,
    filter: { event_type: "tool_result" },
    counts: { events: 92, errors: 1 },
    window: WINDOW,
    event_ids: [1],
    session_ids: ["s1"],
  });
  assert.deepEqual(found, {
    query: { event_type: "tool_result", errored: true, ...BOUNDS },
    events: [1],
    total: 1,
    sessions: ["s1"],
    sessionsShown: null,
    result: null,
    counts: "92 events, 1 error",
  });
  assert.equal(
    `${eventsSearch(found.query!)}`,
    "event_type=tool_result&errored=true&from=2026-11-02T00%3A00%3A00Z&to=2026-11-02T04%3A00%3A00Z",
  );
});

test("the events of each trigger and of an audit are those that are named", () => {
  const message = {
    metric: "matching_events",
    filter: { event_type: "error", message_contains: "payment" },
    counts: { events: 36 },
    window: WINDOW,
    event_ids: [3, 1],
    session_ids: ["s"],
  };
  const { query, events, total } = evidence(message);
  assert.deepEqual([query, events, total], [{ event_type: "error", search: "payment", ...BOUNDS }, [3, 1], 36]);
  assert.deepEqual(evidence({ metric: "p95_latency_ms", window: WINDOW, event_ids: [7] }).events, [7]);
  const audit = evidence({ event_ids: [5, 4], session_ids: ["a", "b"], numbers: {}, window: WINDOW });
  assert.deepEqual([audit.query, audit.events, audit.sessions], [null, [5, 4], ["a", "b"]]);
});

test("sessions that are left out are spoken of", () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);
  const shown = (fields: object) => evidence({ window: WINDOW, ...fields }).sessionsShown;
  const scores = { metric: "reward", evaluation_ids: names(10), session_ids: names(10) };
  assert.equal(shown({ ...scores, counts: { evaluations: 36 } }), "10 sessions shown, of 36 evaluations");
  assert.equal(shown({ ...scores, counts: { evaluations: 10 } }), null);
  // Several events of few sessions.
  const events = { metric: "error_rate", event_ids: names(10), session_ids: names(4) };
  assert.equal(shown({ ...events, counts: { events: 92, errors: 10 } }), null);
  assert.equal(shown({ ...events, counts: { events: 92, errors: 19 } }), "4 sessions shown, of 19 errors");
  assert.equal(shown({ ...events, counts: { events: 36 } }), "4 sessions shown, of 36 events");
  const audit = { event_ids: names(20), session_ids: names(20), numbers: { sessions: 300 }, total_sessions: 500 };
  assert.equal(shown({ ...audit, affected_sessions: 36 }), "the newest 20 of 36 sessions");
  assert.equal(shown({ ...audit, affected_sessions: 20 }), null);
  assert.equal(shown({}), null);
});

test("evidence without events is sessions, rows or nothing", () => {
  const scores = { metric: "reward", window: WINDOW, evaluation_ids: ["e"], session_ids: ["s"] };
  assert.deepEqual([evidence(scores).query, evidence(scores).sessions], [null, ["s"]]);
  const rows = { columns: ["a"], rows: [[1]], counts: { rows: 1, truncated: false } };
  assert.deepEqual(evidence(rows).result, { columns: ["a"], rows: [[1]] });
  assert.equal(evidence(rows).counts, "1 row");
  assert.equal(evidence(null).query, null);
});

test("the events of a group are those of the rule and the group", () => {
  const query = (group: IncidentRow["group"], filter: object = {}, metric = "event_count") =>
    evidence({ metric, window: WINDOW, filter }, group).query;
  assert.deepEqual(query({ user_id: "zoe, jr" }, { "attr.plan": "*", tag: "a,b" }), {
    "attr.plan": "\\*",
    tag: "a\\,b",
    user_id: "zoe\\, jr",
    ...BOUNDS,
  });
  assert.deepEqual(query({ model: "m" }, {}, "cost_sum"), {
    event_type: "model_response,tool_result",
    model: "m",
    ...BOUNDS,
  });
  assert.equal(
    query({ user_id: "zoe" }, { event_type: "model_response" }, "spent_usd")!["event_type"],
    "model_response",
  );
  // No filter of the page finds what has no user.
  assert.equal(query({ user_id: null }), null);
});

test("costs are written as money", () => {
  assert.deepEqual([formatOf("cost_per_session")(0.3), formatOf("spent_usd")(41.2)], ["$0.30", "$41.20"]);
  assert.equal(formatOf("token_sum")(1200), "1,200");
});

test("a budget has marks at its levels", () => {
  const facts = (share: number, levels: number[]) =>
    spendingOf({ evidence: { levels, share, bound: 50 } as unknown as IncidentEvidence })!;
  const marks = (share: number, ...levels: number[]) => levelMarks(facts(share, levels)).map(({ label }) => label);
  assert.deepEqual(levelMarks(facts(0.6, [50, 80, 100])), [
    { value: 25, label: "50 %" },
    { value: 40, label: "80 %" },
  ]);
  assert.deepEqual(marks(0.2, 50, 100, 200, 900), ["50 %"]);
  assert.deepEqual(marks(1.2, 100, 110, 200, 900), ["110 %", "200 %"]);
  assert.equal(spendingOf({ evidence: { metric: "event_count" } as IncidentEvidence }), null);
});

test("groups without an incident of their own are spoken of", () => {
  const more = (groups_more?: number) => moreText({ evidence: { groups_more } as IncidentEvidence });
  assert.equal(more(7), "7 more groups breached, but too many incidents of this rule were open.");
  assert.deepEqual([more(0), more(), moreText({ evidence: null })], [null, null, null]);
});
