import type { AlertBody, AlertRow } from "../api/types";
import { type ChannelDraft, channelDraft, channelsOf } from "../kit/form/channels";
import { spanText, spanValue } from "../kit/time/spans";

export type Kind = AlertRow["trigger_kind"];

/** The kinds of triggers, as people call them. */
export const KINDS: readonly { value: Kind; label: string }[] = [
  { value: "metric_threshold", label: "Metric" },
  { value: "custom_sql", label: "SQL" },
  { value: "evaluation_score", label: "Score" },
  { value: "eval_compound", label: "Several scores" },
  { value: "per_event", label: "Event" },
];
export const METRICS = [
  "event_count",
  "error_count",
  "error_rate",
  "session_count",
  "token_sum",
  "p95_latency_ms",
  "p99_latency_ms",
] as const;
export const OPERATORS = [">", ">=", "<", "<=", "=="] as const;

export interface Condition {
  score_key: string;
  op: string;
  value: string;
}

/** The values of the form. Those of other kinds than the chosen one are kept, and not sent. */
export interface Draft extends ChannelDraft {
  name: string;
  description: string;
  enabled: boolean;
  severity: AlertRow["severity"];
  trigger_kind: Kind;
  metric: string;
  op: string;
  value: string;
  window: string;
  environment: string;
  agent_id: string;
  event_type: string;
  tool_name: string;
  model: string;
  error_type: string;
  message_contains: string;
  sql: string;
  score_key: string;
  min_count: string;
  combinator: string;
  conditions: Condition[];
  auto_resolve: boolean;
  every: string;
  min_breaches: string;
  eval_window: string;
}

const FILTERS = ["environment", "agent_id", "event_type", "tool_name", "model"] as const;

export type Spec = Record<string, unknown>;

export function text(value: unknown, standard = ""): string {
  return typeof value === "string" || typeof value === "number" ? `${value}` : standard;
}

export function nested(value: unknown): Spec {
  return typeof value === "object" && value !== null ? (value as Spec) : {};
}

/** The form's values for an alert, or those of a new one. */
export function draftOf(alert: AlertRow | null): Draft {
  const spec: Spec = alert?.trigger_spec ?? {};
  const filter = { ...spec, ...nested(spec["filter"]) };
  const combinator = spec["combinator"];
  return {
    name: alert?.name ?? "",
    description: alert?.description ?? "",
    enabled: alert?.enabled ?? true,
    severity: alert?.severity ?? "warning",
    trigger_kind: alert?.trigger_kind ?? "metric_threshold",
    metric: text(spec["metric"], "error_rate"),
    op: text(spec["op"], alert?.trigger_kind === "custom_sql" ? "" : ">"),
    value: text(spec["value"], alert ? "" : "0.05"),
    window: spanText(Number(spec["window_secs"] ?? spec["lookback_secs"] ?? 3600)),
    environment: text(filter["environment"]),
    agent_id: text(filter["agent_id"]),
    event_type: text(filter["event_type"]),
    tool_name: text(filter["tool_name"]),
    model: text(filter["model"]),
    error_type: text(spec["error_type"]),
    message_contains: text(spec["message_contains"]),
    sql: text(spec["sql"]),
    score_key: text(spec["score_key"]),
    min_count: text(spec["min_count"], "1"),
    combinator:
      typeof combinator === "object" ? `at least ${text(nested(combinator)["at_least"])}` : text(combinator, "any"),
    conditions: (Array.isArray(spec["conditions"]) ? (spec["conditions"] as Spec[]) : [{ op: "<" }]).map((one) => ({
      score_key: text(one["score_key"]),
      op: text(one["op"], "<"),
      value: text(one["value"]),
    })),
    auto_resolve: spec["auto_resolve"] === true,
    every: spanText(alert?.eval_interval_secs ?? 300),
    min_breaches: `${alert?.min_breaches ?? 1}`,
    eval_window: `${alert?.eval_window ?? 1}`,
    ...channelDraft(alert?.channels ?? [{ kind: "dashboard" }]),
  };
}

/** A number, or the text as it is, which the server refuses by the field's name. */
function number(value: string): number | string | null {
  if (value.trim() === "") return null;
  const found = Number(value);
  return Number.isFinite(found) ? found : value;
}

function present(values: Spec): Spec {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "" && value !== null));
}

/** The `trigger_spec` that a draft means. */
export function specOf(draft: Draft): Spec {
  const { op, environment, agent_id } = draft;
  const value = number(draft.value);
  const window_secs = spanValue(draft.window);
  const min_count = number(draft.min_count);
  const ending = draft.auto_resolve ? { auto_resolve: true } : {};
  switch (draft.trigger_kind) {
    case "metric_threshold": {
      const filter = present(Object.fromEntries(FILTERS.map((name) => [name, draft[name]])));
      return { metric: draft.metric, op, value, window_secs, filter, ...ending };
    }
    case "custom_sql":
      return { sql: draft.sql, ...present({ op: value === null ? null : op, value }), ...ending };
    case "evaluation_score":
      return {
        ...present({ environment, agent_id, min_count }),
        score_key: draft.score_key,
        op,
        value,
        window_secs,
        ...ending,
      };
    case "eval_compound": {
      const least = /^at least (\d+)$/.exec(draft.combinator);
      const conditions = draft.conditions.map((one) => ({
        score_key: one.score_key,
        op: one.op,
        value: number(one.value),
      }));
      return {
        ...present({ environment, min_count }),
        combinator: least ? { at_least: Number(least[1]) } : draft.combinator,
        conditions,
        window_secs,
        ...ending,
      };
    }
    case "per_event": {
      const { event_type, tool_name, error_type, message_contains } = draft;
      return {
        ...present({ environment, agent_id, tool_name, error_type, message_contains }),
        event_type,
        lookback_secs: window_secs,
        ...ending,
      };
    }
  }
}

/** The part that a preview needs. */
export function ruleOf(draft: Draft) {
  return {
    trigger_kind: draft.trigger_kind,
    trigger_spec: specOf(draft),
    eval_interval_secs: spanValue(draft.every),
    min_breaches: number(draft.min_breaches) as number,
    eval_window: number(draft.eval_window) as number,
  };
}

/** What a draft sends. */
export function bodyOf(draft: Draft): AlertBody {
  const { name, description, enabled, severity } = draft;
  return { name, description: description || null, enabled, severity, channels: channelsOf(draft), ...ruleOf(draft) };
}

/** What is missing in a rule, from the messages of a 422: "score key must not be empty". */
export function refusalText(fields: Readonly<Record<string, readonly string[]>>): string {
  return (
    Object.entries(fields)
      .map(([name, messages]) => `${name.split(".").pop()!.replaceAll("_", " ")} ${messages.join(", ")}`)
      .join("; ") || "some fields are not valid"
  );
}
