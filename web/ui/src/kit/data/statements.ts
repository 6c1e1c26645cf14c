// The statements of rules and findings, for their pages and for the incidents that they open.

import type { FindingQueryRow, Trigger } from "../../api/types";

/** The statement of a rule in SQL. */
export function sqlOfRule(rule: Trigger): string | undefined {
  return rule.trigger_kind === "custom_sql" ? rule.trigger_spec.sql : undefined;
}

/** The statement that lists what a finding is about: the second one, because the first computes its numbers. */
export function sqlOfFinding(queries: readonly FindingQueryRow[]): string | undefined {
  return (queries[1] ?? queries[0])?.sql;
}
