import assert from "node:assert/strict";
import { test } from "node:test";
import type { QueryResult } from "../../api/types";
import { drawingOf, fieldsFor, guessFields, kindOf, numberOf, shortNumber } from "./model";

function result(columns: Record<string, string>, rows: unknown[][]): QueryResult {
  return {
    columns: Object.entries(columns).map(([name, type]) => ({ name, type })),
    rows,
    truncated: false,
    elapsed_ms: 1,
  };
}

test("kinds of columns see through Nullable and LowCardinality", () => {
  assert.equal(kindOf("Nullable(UInt32)"), "number");
  assert.equal(kindOf("LowCardinality(Nullable(String))"), "other");
  assert.equal(kindOf("DateTime64(6, 'UTC')"), "moment");
  assert.equal(kindOf("Array(UInt8)"), "other");
});

test("large integers come as texts, and null is no 0", () => {
  assert.equal(numberOf("18446744073709551615"), 18446744073709552000);
  assert.equal(numberOf(null), null);
  assert.equal(numberOf("east"), null);
});

test("fractions lose the digits of their binary form, and nothing else", () => {
  assert.deepEqual([862.0500000000001, 829.9999999999999, 0.415, 7, "18446744073709551615"].map(shortNumber), [
    "862.05",
    "830",
    "0.415",
    "7",
    "18446744073709551615",
  ]);
});

test("names are the axis, and all numbers are values", () => {
  const rows = result({ tool: "String", calls: "UInt64", failed: "UInt64" }, [
    ["a", 3, 1],
    ["b", 2, 0],
  ]);
  assert.deepEqual(guessFields(rows), { x: "tool", y: ["calls", "failed"], series: "" });
  const { names, times, series } = drawingOf(rows, guessFields(rows));
  assert.deepEqual([names, times], [["a", "b"], null]);
  assert.deepEqual(
    series.map(({ values }) => values),
    [
      [3, 2],
      [1, 0],
    ],
  );
});

test("one axis has one unit: that of the first values", () => {
  const values = (columns: Record<string, string>) => guessFields(result({ tool: "String", ...columns }, [])).y;
  assert.deepEqual(values({ calls: "UInt64", failed: "UInt64", share: "Float64", p95_ms: "Float64" }), [
    "calls",
    "failed",
  ]);
  assert.deepEqual(values({ p50_ms: "Float64", p95_ms: "Float64", calls: "UInt64" }), ["p50_ms", "p95_ms"]);
  assert.deepEqual(values({ input_tokens: "UInt64", output_tokens: "UInt64", n: "UInt64" }), [
    "input_tokens",
    "output_tokens",
  ]);
});

test("a third column makes series over time, in order, with gaps as null", () => {
  const rows = result({ at: "DateTime", agent: "String", n: "UInt64" }, [
    ["2026-11-02T09:00:00Z", "a", 1],
    ["2026-11-02T08:00:00Z", "b", 2],
    ["2026-11-02T08:00:00Z", "a", 4],
  ]);
  const { times, series } = drawingOf(rows, guessFields(rows));
  assert.deepEqual(times, [Date.UTC(2026, 10, 2, 8), Date.UTC(2026, 10, 2, 9)]);
  assert.deepEqual(series, [
    { name: "a", values: [4, 1] },
    { name: "b", values: [2, null] },
  ]);
});

test("only a part of a large result is drawn, and its size is known", () => {
  const rows = result(
    { session: "String", at: "DateTime", n: "UInt64" },
    Array.from({ length: 5000 }, (_, index) => [`s-${index}`, new Date(index * 1000).toISOString(), 1]),
  );
  const { names, times, series, places, kinds } = drawingOf(rows, guessFields(rows));
  assert.deepEqual([names.length, times?.length, series.length, series[0]!.values.length], [166, 166, 24, 166]);
  assert.deepEqual([places, kinds], [5000, 5000]);
});

test("ids are values only where there is nothing else", () => {
  assert.deepEqual(guessFields(result({ agent: "String", id: "UInt64", n: "UInt64" }, [])).y, ["n"]);
  assert.deepEqual(guessFields(result({ agent: "String", id: "UInt64" }, [])).y, ["id"]);
});

test("fields that a changed statement no longer has are guessed", () => {
  const rows = result({ tool: "String", calls: "UInt64" }, []);
  assert.deepEqual(fieldsFor(rows, { x: "gone", y: ["calls", "gone"], series: "" }), {
    x: "tool",
    y: ["calls"],
    series: "",
  });
});
