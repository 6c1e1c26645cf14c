// The condition of an alert in words.
import type { AlertRow, EventFilter, MetricThreshold, Trigger } from "../api/types";
import { decimal, exact, percent, plural } from "../kit/text/formats";
import { money } from "../kit/text/money";
import { spanText } from "../kit/time/spans";
import { attributesText, GROUPS, METRICS } from "./choices";
import { combinatorText, type Draft, type Fields, text } from "./model";

/** The metric of a draft, which decides how its values are written. A budget is a sum of costs. */
export function metricOf({ trigger_kind, metric }: Pick<Draft, "trigger_kind" | "metric">): string | null {
  if (trigger_kind === "budget") return "cost_sum";
  return trigger_kind === "metric_threshold" ? metric : null;
}

/** The unit of a metric's value, for the hint of its field. */
export function unitText(metric: string | null): string {
  return METRICS[metric as MetricThreshold["metric"]] ?? "";
}

/** A value with the unit of its rule. */
export function valueText(metric: string | null, value: number): string {
  if (metric === "error_rate") return percent(value);
  if (metric?.startsWith("cost_")) return money(value);
  return Number.isInteger(value) ? exact(value) : decimal(value);
}

function filterText(...values: (string | null | undefined)[]): string {
  const parts = values.filter(Boolean);
  return parts.length ? ` of ${parts.join(", ")}` : "";
}

function ofFilter({ attributes, ...others }: EventFilter = {}): string {
  return filterText(...Object.values(others), attributesText(attributes));
}

/** "for each user": the groups of a rule, which have their own incidents. */
function eachText(group_by: string | null | undefined): string {
  return group_by ? ` for each ${groupName(group_by)}` : "";
}

/** A dimension as people call it: "attr.plan" is "plan". */
export function groupName(field: string): string {
  return GROUPS.find(({ value }) => value === field)?.label.toLowerCase() ?? field.replace(/^attr\./, "");
}

/** The condition as a sentence: "error_rate of tool_result > 5.0 % over 1 h". */
export function conditionText(rule: Trigger & Pick<AlertRow, "min_breaches" | "eval_window">): string {
  const often = rule.eval_window > 1 ? `, ${rule.min_breaches} of ${rule.eval_window} times` : "";
  return conditionOf(rule) + often;
}

function conditionOf({ trigger_kind, trigger_spec: spec }: Trigger): string {
  switch (trigger_kind) {
    case "metric_threshold": {
      const bound = boundText(spec, spec.metric);
      return `${spec.metric}${ofFilter(spec.filter)}${bound}${overText(spec)}${eachText(spec.group_by)}`;
    }
    case "budget": {
      const { amount_usd, period, levels = [], group_by } = spec;
      const at = levels.length ? `, at ${levels.join(", ")} %` : "";
      return `costs${ofFilter(spec.filter)} above ${money(amount_usd)} a ${period}${eachText(group_by)}${at}`;
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

/** When a rule opens an incident. */
export function openingText({ min_breaches, eval_window }: Draft): string {
  if (Number(eval_window) <= 1) return "Every breach counts: the first one opens an incident.";
  const breaches = plural(Number(min_breaches), "breach", "breaches");
  return `An incident opens after ${breaches} in the last ${eval_window} evaluations.`;
}

/** When an incident ends by itself. */
export function resolvingText(evaluations: string): string {
  const many = Number(evaluations) > 1 ? `${evaluations} evaluations in a row` : "one evaluation";
  return `The incident ends after ${many} without a breach. Otherwise somebody resolves it.`;
}
