// What a rule can choose from. Pure.
import type { AlertRow, Budget, EventFilter, MetricThreshold } from "../api/types";

export type Kind = AlertRow["trigger_kind"];

/** The kinds of triggers, as people call them. */
export const KINDS: readonly { value: Kind; label: string }[] = [
  { value: "metric_threshold", label: "Metric" },
  { value: "custom_sql", label: "SQL" },
  { value: "evaluation_score", label: "Score" },
  { value: "eval_compound", label: "Several scores" },
  { value: "per_event", label: "Event" },
  { value: "budget", label: "Budget" },
];

/** The metrics, each with its unit as a hint for the field of its value. */
export const METRICS: Readonly<Record<MetricThreshold["metric"], string>> = {
  event_count: "",
  error_count: "",
  error_rate: "A share: 0.05 is 5 %.",
  session_count: "",
  p95_latency_ms: "Milliseconds.",
  p99_latency_ms: "Milliseconds.",
  cost_sum: "US dollars.",
  cost_per_session: "US dollars.",
  model_call_count: "",
  unpriced_calls: "",
  token_sum: "Tokens.",
  input_token_sum: "Tokens.",
  output_token_sum: "Tokens.",
  cache_read_token_sum: "Tokens.",
  cache_write_token_sum: "Tokens.",
  reasoning_token_sum: "Tokens.",
};
/** The groups that a rule can have incidents for. An attribute is typed: "attr.plan". */
export const GROUPS = [
  { value: "agent_id", label: "Agent" },
  { value: "user_id", label: "User" },
  { value: "agent_version", label: "Version" },
  { value: "environment", label: "Environment" },
  { value: "model", label: "Model" },
];
export const PERIODS: readonly Budget["period"][] = ["day", "week", "month"];
export const OPERATORS = [">", ">=", "<", "<=", "=="] as const;

/** Attributes as a field has them: "plan=pro, region=eu". */
export function attributesText(attributes: EventFilter["attributes"]): string {
  return Object.entries(attributes ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
}

export function attributesOf(text: string): Record<string, string> | "" {
  const pairs = text.split(",").flatMap((one) => {
    const [key = "", ...value] = one.split("=");
    return key.trim() ? [[key.trim(), value.join("=").trim()]] : [];
  });
  return pairs.length ? (Object.fromEntries(pairs) as Record<string, string>) : "";
}
