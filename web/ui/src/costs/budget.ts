// A budget as a bar: its tone, its length, and its group in words. Pure.
import type { BudgetRow } from "../api/types";

export interface Budget extends BudgetRow {
  /** In percent of the amount, rising. */
  levels: readonly number[];
}

export const PERIODS: Record<BudgetRow["period"], string> = { day: "today", week: "this week", month: "this month" };

/** "err" from the amount on, "warn" from the first level on, else "ok". */
export function toneOf({ share, level, levels }: Pick<Budget, "share" | "level" | "levels">): "err" | "warn" | "ok" {
  if (share >= 1) return "err";
  return level !== null || share * 100 >= Math.min(...levels) ? "warn" : "ok";
}

/** The forecast in percent of the amount, null without one. */
export function forecastOf({ forecast_usd, amount_usd }: Pick<Budget, "forecast_usd" | "amount_usd">): number | null {
  return forecast_usd === null ? null : (forecast_usd / amount_usd) * 100;
}

/** What the end of the bar stands for, in percent of the amount: all marks have their place on it. */
export function endOf(budget: Pick<Budget, "share" | "levels" | "forecast_usd" | "amount_usd">): number {
  return Math.max(100, budget.share * 100, ...budget.levels, forecastOf(budget) ?? 0);
}
