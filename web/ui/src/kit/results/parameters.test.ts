import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyNote, parameterOf, parametersOf, valuesFor } from "./parameters";

test("parameters are those outside of texts, names and comments", () => {
  const sql = "SELECT '$9', \"$8\", 'it''s $7' -- $6\n/* $5 */ FROM events WHERE a = $2 AND b IN $1 AND c = $2";
  assert.deepEqual(parametersOf(sql), [1, 2]);
});

test("a statement that is not finished has parameters too", () => {
  assert.deepEqual(parametersOf("SELECT $1, 'open"), [1]);
});

test("values are JSON where they read so, else texts", () => {
  assert.equal(parameterOf("production"), "production");
  assert.equal(parameterOf(" 12.5 "), 12.5);
  assert.equal(parameterOf("true"), true);
  assert.equal(parameterOf("null"), null);
  assert.equal(parameterOf('"12"'), "12");
  assert.deepEqual(parameterOf('["a", "b"]'), ["a", "b"]);
  assert.equal(parameterOf("2026-11-02T08:00:00Z"), "2026-11-02T08:00:00Z");
  assert.equal(parameterOf("18446744073709551615"), "18446744073709551615");
});

test("each number up to the last parameter has a value", () => {
  assert.deepEqual(valuesFor("SELECT $3, $1", { 1: "a", 3: "7" }), ["a", "", 7]);
});

test("empty parameters are named", () => {
  assert.equal(emptyNote("SELECT $1, $2", { 1: " ", 2: "a" }), "$1 is empty.");
  assert.equal(emptyNote("SELECT $1, $3", { 2: "a" }), "$1 and $3 are empty.");
  assert.equal(emptyNote("SELECT $1", { 1: "0" }), "");
});
