import assert from "node:assert/strict";
import { test } from "node:test";
import { bandNames, callsQuery, cellOf, cellParams, FAMILIES, failedQuery, isName, othersText, queryOf } from "./model";

const [tools] = FAMILIES;
const second = { from: "1970-01-01T00:00:00.000Z", to: "1970-01-01T00:00:01.000Z" };

test("the request names the pair, its key, its names and the range", () => {
  const choice = {
    family: tools!,
    filters: { environment: "production" },
    bounds: { from: "2026-11-02T00:00:00Z", to: null },
  };
  const query = queryOf(choice);
  assert.deepEqual(
    [
      query["start_event_type"],
      query["end_event_type"],
      query["pair_key_paths"],
      query["distribution_key_paths"],
      query["ts_from"],
      query["environment"],
    ],
    ["tool_use", "tool_result", "tool_call_id", "tool_name", "2026-11-02T00:00:00Z", "production"],
  );
  assert.deepEqual([query["distribution_order"], query["distribution_limit"]], ["p95", 500]);
  const byErrors = queryOf(choice, "error_count");
  assert.deepEqual([byErrors["distribution_order"], byErrors["distribution_limit"]], ["error_count", 500]);
});

test("names that are not there one by one are spoken of", () => {
  assert.equal(othersText(["a", "(none)"], "p95"), null);
  assert.equal(
    othersText(["a", "b", "(none)", "(other)"], "p95"),
    "These are the 2 names with the highest p95. All others are together in “(other)”.",
  );
  assert.match(othersText(["a", "(other)"], "error_count")!, /highest error count\./);
});

test("bands have names", () => {
  assert.deepEqual(bandNames([1, 10, 1000, 300_000, 1_000_000]), ["< 10 ms", "≥ 10 ms", "≥ 1 s", "≥ 5 m"]);
});

test("a cell leads to its calls, the outer bands are open", () => {
  const choice = { family: tools!, filters: { agent_id: "a" }, bounds: { from: "1970-01-01T00:00:00Z", to: null } };
  const edges = [1, 10, 100, 1000];
  const asked = (band: number | null, name: string | null = null) =>
    callsQuery(choice, { band, name, bounds: second }, edges);
  const bands = [0, 1, 2, null].map((band) => [asked(band)["latency_from"], asked(band)["latency_to"]]);
  assert.equal(asked(null)["limit"], 500);
  assert.deepEqual(bands, [
    [null, 10],
    [10, 100],
    [100, null],
    [null, null],
  ]);
  assert.deepEqual(
    [asked(1)["ts_from"], asked(1)["ts_to"], asked(1)["agent_id"], asked(null, "x,y")["tool_name"]],
    [second.from, second.to, "a", "x\\,y"],
  );
});

test("the URL names a cell", () => {
  const cell = { band: 3, name: null, bounds: second };
  const params = cellParams(cell);
  assert.deepEqual(
    cellOf((name) => params[name] ?? null),
    cell,
  );
  assert.equal(
    cellOf((name) => cellParams(null)[name] ?? null),
    null,
  );
});

test("the failures of a name are its failed ends", () => {
  const named = failedQuery({ family: tools!, filters: { agent_id: "a,b", tool_name: null }, bounds: second }, "x,y");
  assert.deepEqual(
    [named.get("tool_name"), named.get("event_type"), named.get("errored")],
    ["x\\,y", "tool_result", "true"],
  );
  assert.deepEqual([isName("(other)"), isName("(none)"), isName("book")], [false, false, true]);
});
