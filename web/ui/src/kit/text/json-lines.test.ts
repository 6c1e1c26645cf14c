import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf, nested } from "./json-lines";

const texts = (value: unknown, folded: string[] = []) =>
  linesOf(value, (pointer) => folded.includes(pointer)).map(
    ({ depth, key, text }) => `${" ".repeat(depth)}${key ? `${key}: ` : ""}${text}`,
  );

test("a value is written as JSON would be", () => {
  assert.deepEqual(texts({ a: [1, null], b: {} }), ["{", ' "a": [', "  1,", "  null", " ],", ' "b": {}', "}"]);
});

test("JSON within a string is opened, and keeps its quotes", () => {
  assert.deepEqual(texts({ a: '{"b":1}' }), ["{", ' "a": "{', '  "b": 1', ' }"', "}"]);
  assert.equal(nested("{not json"), null);
  assert.equal(nested("12"), null);
});

test("what is folded is one line", () => {
  assert.deepEqual(texts({ a: { b: 1 } }, ["/a"]), ["{", ' "a": {…}', "}"]);
});
