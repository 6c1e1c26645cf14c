import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionCosts } from "../../../api/types";
import { costByModel } from "./costs";

const line = (agent_id: string, model: string | null, cost_usd: number | null, unpriced_calls = 0) =>
  ({ agent_id, model, cost_usd, unpriced_calls }) as SessionCosts;

test("a model's cost is that of all its agents, and without a price it is none", () => {
  const costs = [line("a", "large", 0.25, 1), line("b", "large", 0.5), line("b", "house", null, 2)];
  assert.deepEqual(Object.fromEntries(costByModel(costs)), {
    large: { value: 0.75, unpriced: 1 },
    house: { value: null, unpriced: 2 },
  });
});
