import assert from "node:assert/strict";
import { test } from "node:test";
import { DECLARED } from "../../api/filters";
import { boundOf, figureOf, parseBounds, showBounds, typedBound } from "./ranges";

test("bounds are read from the end, because keys may hold colons", () => {
  assert.deepEqual(parseBounds("a:b:0.5.."), { key: "a:b", min: "0.5", max: "" });
  assert.deepEqual(parseBounds("tokens:..5000"), { key: "tokens", min: "", max: "5000" });
  assert.equal(parseBounds("tokens"), null);
});

test("every figure that the service declares has a name of its own", () => {
  const { names } = DECLARED["sessions"]!.find(({ param }) => param === "metric_filters")!;
  assert.ok(names!.includes("cost_usd"));
  for (const name of names!) assert.notEqual(figureOf(name).label, name);
});

test("bounds have the unit of their figure", () => {
  const shown = (key: string, min: string, max: string) => showBounds({ key, min, max }, figureOf(key).show);
  assert.equal(shown("cost_usd", "0.5", "12"), "$0.50 – $12.00");
  assert.equal(shown("duration_ms", "600000", ""), "≥ 10 m 00 s");
  assert.equal(shown("tokens", "", "5000"), "≤ 5,000");
  assert.equal(shown("tokens", "odd", ""), "≥ odd");
});

test("durations are typed in seconds", () => {
  const duration = figureOf("duration_ms");
  assert.equal(boundOf(" 1.001 ", duration), "1001");
  assert.equal(typedBound("1001", duration), "1.001");
  assert.deepEqual([boundOf("", duration), typedBound("", duration)], ["", ""]);
  assert.equal(boundOf("0.5", figureOf("cost_usd")), "0.5");
});
