// The condition of an alert in words.
import type { AlertRow } from "../api/types";
import { decimal, exact, percent } from "../kit/text/formats";
import { spanText } from "../kit/time/spans";
import { type Draft, nested, type Spec, text } from "./model";

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
export function valueText(metric: unknown, value: number): string {
  if (metric === "error_rate") return percent(value);
  return Number.isInteger(value) ? exact(value) : decimal(value);
}

function chosen(spec: Spec, ...names: readonly string[]): Spec {
  return Object.fromEntries(names.map((name) => [name, spec[name]]));
}

function filterText(filter: Spec): string {
  const parts = Object.values(filter)
    .map((value) => text(value))
    .filter(Boolean);
  return parts.length ? ` of ${parts.join(", ")}` : "";
}

/** The condition as a sentence: "error_rate of tool_result > 5.0 % over 1 h". */
export function conditionText({
  trigger_kind,
  trigger_spec: spec,
  min_breaches,
  eval_window,
}: Pick<AlertRow, "trigger_kind" | "trigger_spec" | "min_breaches" | "eval_window">): string {
  const often = eval_window > 1 ? `, ${min_breaches} of ${eval_window} times` : "";
  const over = ` over ${spanText(Number(spec["window_secs"] ?? 3600))}`;
  const bound =
    typeof spec["value"] === "number" ? ` ${text(spec["op"])} ${valueText(spec["metric"], spec["value"])}` : "";
  switch (trigger_kind) {
    case "metric_threshold":
      return `${text(spec["metric"])}${filterText(nested(spec["filter"]))}${bound}${over}${often}`;
    case "custom_sql":
      return `${bound ? `SQL result${bound}` : "SQL finds a row"}${often}`;
    case "evaluation_score": {
      const filter = filterText(chosen(spec, "environment", "agent_id"));
      return `mean ${text(spec["score_key"])}${filter}${bound}${over}${often}`;
    }
    case "eval_compound": {
      const conditions = Array.isArray(spec["conditions"]) ? (spec["conditions"] as Spec[]) : [];
      const all = conditions
        .map((one) => `${text(one["score_key"])} ${text(one["op"])} ${text(one["value"])}`)
        .join(", ");
      const combinator = spec["combinator"];
      const many =
        typeof combinator === "object" ? `at least ${text(nested(combinator)["at_least"])}` : text(combinator);
      return `${many} of: ${all}${over}${often}`;
    }
    case "per_event": {
      const filter = filterText(chosen(spec, "tool_name", "agent_id", "environment", "error_type"));
      const message = text(spec["message_contains"]);
      return `any ${text(spec["event_type"])}${filter}${message && ` with “${message}”`}${often}`;
    }
  }
}
