// The condition of an alert in words.
import type { AlertRow, Trigger } from "../api/types";
import { decimal, exact, percent } from "../kit/text/formats";
import { spanText } from "../kit/time/spans";
import { combinatorText, type Draft, type Fields, text } from "./model";

/** The metric of a draft, which decides how its values are written. */
export function metricOf({ trigger_kind, metric }: Pick<Draft, "trigger_kind" | "metric">): string | null {
  return trigger_kind === "metric_threshold" ? metric : null;
}

/** The unit of a metric's value, for the hint of its field. */
export function unitText(metric: string | null): string {
  if (metric === "error_rate") return "A share: 0.05 is 5 %.";
  if (metric === "token_sum") return "Tokens.";
  return metric?.endsWith("_ms") ? "Milliseconds." : "";
}

/** A value with the unit of its rule. */
export function valueText(metric: string | null, value: number): string {
  if (metric === "error_rate") return percent(value);
  return Number.isInteger(value) ? exact(value) : decimal(value);
}

function filterText(...values: (string | null | undefined)[]): string {
  const parts = values.filter(Boolean);
  return parts.length ? ` of ${parts.join(", ")}` : "";
}

/** The condition as a sentence: "error_rate of tool_result > 5.0 % over 1 h". */
export function conditionText(rule: Trigger & Pick<AlertRow, "min_breaches" | "eval_window">): string {
  const often = rule.eval_window > 1 ? `, ${rule.min_breaches} of ${rule.eval_window} times` : "";
  return conditionOf(rule) + often;
}

function conditionOf({ trigger_kind, trigger_spec: spec }: Trigger): string {
  switch (trigger_kind) {
    case "metric_threshold": {
      const filter = filterText(...Object.values(spec.filter ?? {}));
      return `${spec.metric}${filter}${boundText(spec, spec.metric)}${overText(spec)}`;
    }
    case "custom_sql":
      return typeof spec.value === "number" ? `SQL result${boundText(spec)}` : "SQL finds a row";
    case "evaluation_score":
      return `mean ${spec.score_key}${filterText(spec.environment, spec.agent_id)}${boundText(spec)}${overText(spec)}`;
    case "eval_compound": {
      const all = spec.conditions.map((one) => `${one.score_key} ${one.op} ${one.value}`).join(", ");
      return `${combinatorText(spec.combinator)} of: ${all}${overText(spec)}`;
    }
    case "per_event": {
      const { event_type, tool_name, agent_id, environment, error_type, message_contains } = spec;
      const filter = filterText(tool_name, agent_id, environment, error_type);
      return `any ${event_type}${filter}${message_contains ? ` with “${message_contains}”` : ""}`;
    }
  }
}

function boundText({ op, value }: Pick<Fields, "op" | "value">, metric: string | null = null): string {
  return typeof value === "number" ? ` ${text(op)} ${valueText(metric, value)}` : "";
}

function overText({ window_secs }: Pick<Fields, "window_secs">): string {
  return ` over ${spanText(window_secs ?? 3600)}`;
}
