import { type Options, type Query, request } from "../api/request";
import type { CostGroup, Costs } from "../api/types";
import type { PageOf } from "../kit/data/load";
import type { Budget } from "./budget";
import type { Grouping } from "./model";

export const PAGE_ROWS = 50;

/** A page of groups, with the sums and the course of all calls. */
export interface CostPage extends PageOf<CostGroup> {
  costs: Costs;
  grouping: Grouping;
}

export async function readCosts(query: Query, grouping: Grouping, options: Options): Promise<CostPage> {
  const costs = await request("GET /costs", { query: { ...query, limit: PAGE_ROWS } as object }, options);
  return { rows: costs.groups, next: costs.next_cursor, costs, grouping };
}

/** The budgets, with the levels of their rules. */
export async function readBudgets(options: Options): Promise<Budget[]> {
  const [{ budgets }, alerts] = await Promise.all([
    request("GET /budgets", {}, options),
    request("GET /alerts", {}, options),
  ]);
  const levels = new Map(alerts.map(({ id, trigger_spec }) => [id, (trigger_spec as { levels?: number[] }).levels]));
  return budgets.map((budget) => ({ ...budget, levels: levels.get(budget.alert_id) ?? [] }));
}
