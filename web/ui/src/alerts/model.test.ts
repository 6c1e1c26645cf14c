import assert from "node:assert/strict";
import { test } from "node:test";
import type { AlertRow, Channel, MetricThreshold } from "../api/types";
import type { Kind } from "./choices";
import { conditionText, metricOf, valueText } from "./condition";
import { bodyOf, draftOf, specOf } from "./model";

function alert(trigger_kind: Kind, trigger_spec: AlertRow["trigger_spec"], changes: Partial<AlertRow> = {}): AlertRow {
  return {
    name: "n",
    description: null,
    enabled: true,
    severity: "critical",
    trigger_kind,
    trigger_spec,
    min_breaches: 1,
    eval_window: 1,
    eval_interval_secs: 300,
    channels: [{ kind: "dashboard" }],
    ...changes,
  } as AlertRow;
}

const SPECS: readonly [Kind, AlertRow["trigger_spec"], string][] = [
  [
    "metric_threshold",
    { metric: "error_rate", op: ">", value: 0.05, window_secs: 3600, filter: { event_type: "tool_result" } },
    "error_rate of tool_result > 5.0 % over 1 h",
  ],
  ["custom_sql", { sql: "SELECT 1" }, "SQL finds a row"],
  ["custom_sql", { sql: "SELECT 1 AS metric_value", op: ">=", value: 2 }, "SQL result >= 2"],
  [
    "evaluation_score",
    { score_key: "reward", op: "<", value: 0.5, window_secs: 86_400, min_count: 3, agent_id: "a" },
    "mean reward of a < 0.50 over 1 d",
  ],
  [
    "eval_compound",
    {
      combinator: { at_least: 1 },
      conditions: [{ score_key: "reward", op: "<", value: 0.5 }],
      window_secs: 3600,
      min_count: 1,
      auto_resolve: true,
    },
    "at least 1 of: reward < 0.5 over 1 h",
  ],
  [
    "budget",
    {
      amount_usd: 50,
      period: "month",
      tz: "UTC",
      levels: [50, 100],
      forecast: false,
      filter: { agent_version: "2.0", attributes: { plan: "pro" } },
      group_by: "user_id",
    },
    "costs of 2.0, plan=pro above $50.00 a month for each user, at 50, 100 %",
  ],
  [
    "metric_threshold",
    { metric: "cost_sum", op: ">", value: 2, window_secs: 3600, filter: {}, group_by: "attr.customer" },
    "cost_sum > $2.00 over 1 h for each customer",
  ],
  ["per_event", { event_type: "error", lookback_secs: 600, message_contains: "payment" }, "any error with “payment”"],
];

test("a rule and its form lead to each other", () => {
  for (const [kind, spec] of SPECS) assert.deepEqual(specOf(draftOf(alert(kind, spec))), spec);
});

test("a condition is a sentence", () => {
  for (const [kind, spec, sentence] of SPECS) assert.equal(conditionText(alert(kind, spec)), sentence);
  const [kind, spec] = SPECS[1]!;
  assert.equal(conditionText(alert(kind, spec, { min_breaches: 2, eval_window: 3 })), "SQL finds a row, 2 of 3 times");
});

test("mail goes to the recipients that are named", () => {
  const channels: Channel[] = [{ kind: "email", recipients: ["ada@example.com"] }, { kind: "slack" }];
  assert.deepEqual(bodyOf(draftOf(alert("custom_sql", { sql: "SELECT 1" }, { channels }))).channels, channels);
});

test("only the error rate is a share", () => {
  assert.equal(valueText(metricOf({ trigger_kind: "per_event", metric: "error_rate" }), 6), "6");
  assert.equal(valueText(metricOf({ trigger_kind: "metric_threshold", metric: "error_rate" }), 0.06), "6.0 %");
});

test("what is no number is left to the server", () => {
  const draft = { ...draftOf(null), value: "much" };
  assert.equal((specOf(draft) as MetricThreshold).value, "much");
});
