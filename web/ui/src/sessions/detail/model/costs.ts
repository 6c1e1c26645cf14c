/** What the calls of a session cost, by agent and model. */
import type { SessionCosts } from "../../../api/types";
import { rounded } from "../../../kit/text/money";

export interface Amount {
  value: number | null;
  unpriced: number;
}

/** The cost of each model, of all agents together. */
export function costByModel(costs: readonly SessionCosts[]): Map<string, Amount> {
  const sums = new Map<string, Amount>();
  for (const { model, cost_usd, unpriced_calls } of costs) {
    const name = model ?? "no model";
    const { value, unpriced } = sums.get(name) ?? { value: null, unpriced: 0 };
    sums.set(name, {
      value: cost_usd === null ? value : rounded((value ?? 0) + cost_usd),
      unpriced: unpriced + unpriced_calls,
    });
  }
  return sums;
}
