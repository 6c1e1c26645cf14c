import assert from "node:assert/strict";
import { test } from "node:test";
import type { CostSeries } from "../api/types";
import { groupingOf, groupValue, listQuery, ratio, spanOf, stackOf } from "./model";

const MODEL = groupingOf(null);
const TAG = groupingOf("tag");
const all = { preset: "all", from: null, to: null } as const;
const between = (from: string, to: string | null) => ({ range: { preset: null, from, to }, bounds: { from, to } });

test("buckets fit the range, and all time has a beginning", () => {
  const now = Date.parse("2026-11-30T00:00:00Z");
  const bucketOf = (from: string, to: string | null) => {
    const { range, bounds } = between(from, to);
    return spanOf(range, bounds, now).bucket;
  };
  assert.equal(bucketOf("2026-11-28T00:00:00Z", null), "hour");
  assert.equal(bucketOf("2026-10-31T00:00:00Z", null), "day");
  assert.equal(bucketOf("2026-01-01T00:00:00Z", "2026-11-01T00:00:00Z"), "week");
  assert.equal(bucketOf("2010-01-01T00:00:00Z", null), "month");
  assert.deepEqual(spanOf(all, { from: null, to: null }, now), {
    ts_from: "2000-01-01T00:00:00.000Z",
    bucket: "week",
  });
});

const points = (...costs: (number | null)[]) =>
  costs.map((cost_usd, day) => ({
    ts: `2026-11-0${day + 1}T00:00:00Z`,
    cost_usd,
    calls: cost_usd === null ? 0 : 1,
    tokens: 0,
  }));

test("the stack is the dearest groups and the others, from the first calls on", () => {
  const series: CostSeries[] = [
    { key: null, points: points(null, 10, null, 6) },
    { key: { model: "large" }, points: points(null, 7, null, 6) },
    { key: { model: null }, points: points(null, 1, null, null) },
  ];
  const found = stackOf(series, MODEL);
  assert.deepEqual(
    found.times.map((time) => new Date(time).getUTCDate()),
    [2, 3, 4],
  );
  assert.deepEqual(
    found.series.map(({ name, values }) => [name, values]),
    [
      ["large", [7, null, 6]],
      ["none", [1, null, null]],
      ["others", [2, 0, 0]],
    ],
  );
});

test("more groups than colours are others, and tags have none", () => {
  const many = Array.from({ length: 10 }, (_, index) => ({
    key: { model: `m${index}`, tag: `t${index}` },
    points: points(1),
  }));
  const names = (grouping: typeof MODEL) =>
    stackOf([{ key: null, points: points(10) }, ...many], grouping).series.map(({ name }) => name);
  assert.deepEqual(names(MODEL), ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "others"]);
  assert.equal(names(TAG).includes("others"), false);
  assert.deepEqual(
    stackOf([{ key: null, points: points(1) }], MODEL).series.map(({ name }) => name),
    ["all"],
  );
});

test("a group's list has the filters that it knows, and the group's value", () => {
  const given = { environment: "prod", model: "a,b", search: "x", hook_name: null, "attr.plan": "pro" };
  const query = (group: string, value: string | null) => listQuery(given, { t: "30d" }, groupingOf(group), value);
  assert.deepEqual(query("user_id", "a,b"), {
    environment: "prod",
    model: "a,b",
    "attr.plan": "pro",
    t: "30d",
    user_id: "a\\,b",
  });
  assert.equal(query("model", "gpt-4o")?.["model"], "gpt-4o");
  assert.equal(query("user_id", null)?.["missing"], "user_id");
  assert.equal(query("model", null), null);
  const missing = { missing: "user_id,tag" };
  assert.equal(listQuery(missing, {}, groupingOf("user_id"), null)?.["missing"], "user_id");
  assert.equal(listQuery(missing, {}, groupingOf("agent_version"), null)?.["missing"], "user_id,agent_version");
});

test("values and shares of groups", () => {
  assert.equal(groupValue({ key: { tag: "beta" } }, TAG), "beta");
  assert.equal(groupValue({ key: { tag: null } }, TAG), null);
  assert.deepEqual([ratio(1, 4), ratio(null, 4), ratio(1, 0), ratio(0, 4)], [0.25, null, null, 0]);
});
