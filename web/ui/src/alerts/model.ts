import type { AlertBody, AlertRow, Budget, EventFilter, MetricThreshold, ScoreCondition, Trigger } from "../api/types";
import type { FieldsOf } from "../kit/data/fields-of";
import { type ChannelDraft, channelDraft, channelsOf } from "../kit/form/channels";
import { spanText, spanValue } from "../kit/time/spans";
import { attributesOf, attributesText, type Kind } from "./choices";

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
  user_id: string;
  agent_version: string;
  tag: string;
  attribute: string;
  group_by: string;
  amount: string;
  period: string;
  tz: string;
  levels: string;
  forecast: boolean;
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

const FILTERS = [
  ...(["environment", "agent_id", "event_type", "tool_name", "model"] as const),
  ...(["user_id", "agent_version", "tag"] as const),
];

type Spec = Trigger["trigger_spec"];
export type Fields = FieldsOf<Spec>;

export function text(value: string | number | null | undefined, standard = ""): string {
  return value === null || value === undefined ? standard : `${value}`;
}

export function combinatorText(combinator: Fields["combinator"]): string {
  return typeof combinator === "object" ? `at least ${combinator.at_least}` : (combinator ?? "any");
}

/** The form's values for an alert, or those of a new one. */
export function draftOf(alert: AlertRow | null, kind: Kind = "metric_threshold"): Draft {
  const spec: Fields = alert?.trigger_spec ?? {};
  const filter = { ...spec, ...spec.filter };
  return {
    name: alert?.name ?? "",
    description: alert?.description ?? "",
    enabled: alert?.enabled ?? true,
    severity: alert?.severity ?? "warning",
    trigger_kind: alert?.trigger_kind ?? kind,
    metric: text(spec.metric, "error_rate"),
    op: text(spec.op, alert?.trigger_kind === "custom_sql" ? "" : ">"),
    value: text(spec.value, alert ? "" : "0.05"),
    window: spanText(spec.window_secs ?? spec.lookback_secs ?? 3600),
    environment: text(filter.environment),
    agent_id: text(filter.agent_id),
    event_type: text(filter.event_type),
    tool_name: text(filter.tool_name),
    model: text(filter.model),
    user_id: text(filter.user_id),
    agent_version: text(filter.agent_version),
    tag: text(filter.tag),
    attribute: attributesText(filter.attributes),
    group_by: text(spec.group_by),
    amount: text(spec.amount_usd),
    period: text(spec.period, "month"),
    tz: text(spec.tz, "UTC"),
    levels: (spec.levels ?? [50, 80, 100]).join(", "),
    forecast: spec.forecast ?? true,
    error_type: text(spec.error_type),
    message_contains: text(spec.message_contains),
    sql: text(spec.sql),
    score_key: text(spec.score_key),
    min_count: text(spec.min_count, "1"),
    combinator: combinatorText(spec.combinator),
    conditions: spec.conditions?.map((one) => ({ ...one, value: text(one.value) })) ?? [
      { score_key: "", op: "<", value: "" },
    ],
    auto_resolve: spec.auto_resolve ?? false,
    every: spanText(alert?.eval_interval_secs ?? 300),
    min_breaches: `${alert?.min_breaches ?? 1}`,
    eval_window: `${alert?.eval_window ?? 1}`,
    ...channelDraft(alert?.channels ?? [{ kind: "dashboard" }]),
  };
}

/** A number; else null or the text as it is, which the server refuses by the field's name. */
function number(value: string): number {
  const found = value.trim() === "" ? null : Number(value);
  return (found === null || Number.isFinite(found) ? found : value) as number;
}

function present<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "" && value !== null)) as Partial<T>;
}

function filterOf(draft: Draft): EventFilter {
  const chosen = Object.fromEntries(FILTERS.map((name) => [name, draft[name]]));
  return present({ ...chosen, attributes: attributesOf(draft.attribute) }) as EventFilter;
}

/** The `trigger_spec` that a draft means. */
export function specOf(draft: Draft): Spec {
  const { environment, agent_id } = draft;
  const op = draft.op as ScoreCondition["op"];
  const value = number(draft.value);
  const window_secs = spanValue(draft.window);
  const min_count = number(draft.min_count);
  const ending = draft.auto_resolve ? { auto_resolve: true } : {};
  switch (draft.trigger_kind) {
    case "metric_threshold": {
      const { group_by } = draft;
      const metric = draft.metric as MetricThreshold["metric"];
      return { metric, op, value, window_secs, filter: filterOf(draft), ...present({ group_by }), ...ending };
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
        op: one.op as ScoreCondition["op"],
        value: number(one.value),
      }));
      return {
        ...present({ environment, min_count }),
        combinator: least ? { at_least: Number(least[1]) } : (draft.combinator as "any" | "all"),
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
    case "budget": {
      const { group_by, tz, forecast } = draft;
      return {
        amount_usd: number(draft.amount),
        period: draft.period as Budget["period"],
        tz,
        levels: draft.levels.split(/[\s,]+/).flatMap((one) => (one ? [number(one)] : [])),
        forecast,
        filter: filterOf(draft),
        ...present({ group_by }),
      };
    }
  }
}

/** The part that a preview needs. */
export function ruleOf(draft: Draft) {
  return {
    ...({ trigger_kind: draft.trigger_kind, trigger_spec: specOf(draft) } as Trigger),
    eval_interval_secs: spanValue(draft.every),
    min_breaches: number(draft.min_breaches),
    eval_window: number(draft.eval_window),
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
