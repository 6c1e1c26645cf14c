import assert from "node:assert/strict";
import { test } from "node:test";
import { endOf, toneOf } from "./budget";

test("a budget warns from its first level on, and is red from its amount on", () => {
  const tone = (share: number, level: number | "forecast" | null = null) => toneOf({ share, level, levels: [50, 80] });
  assert.deepEqual(
    [tone(0.2), tone(0.5), tone(0.2, "forecast"), tone(1), tone(3.1)],
    ["ok", "warn", "warn", "err", "err"],
  );
  assert.equal(toneOf({ share: 0.9, level: null, levels: [] }), "ok");
});

test("every mark has its place on the bar", () => {
  const end = (share: number, forecast_usd: number | null, ...levels: number[]) =>
    endOf({ share, levels, forecast_usd, amount_usd: 50 });
  assert.equal(end(0.2, null, 50, 80), 100);
  assert.equal(end(0.2, 100, 50), 200);
  assert.equal(end(1.5, 60), 150);
  assert.equal(end(0.2, null, 120), 120);
});
