import assert from "node:assert/strict";
import { test } from "node:test";
import { among, literal, where, within } from "./sql";

test("a value stays a literal on one line", () => {
  assert.equal(literal("it's"), "'it''s'");
  assert.equal(literal("a\\' OR 1"), String.raw`'a\\'' OR 1'`);
  assert.equal(literal('$1 {x} `id` "q"'), "'$1 {x} `id` \"q\"'");
  assert.equal(literal("a\nb\r\tc"), String.raw`'a\nb\r\tc'`);
  assert.equal(literal("\0\u0085"), String.raw`'\x00\xc2\x85'`);
});

test("conditions without a value are left out", () => {
  assert.deepEqual(among("model", []), []);
  assert.deepEqual(within("ts", "a", null), ["ts >= 'a'"]);
  assert.deepEqual(within("ts", null, "b"), ["ts < 'b'"]);
  assert.equal(where([]), "");
  assert.equal(where(["a", "b"]), "\nWHERE a\n  AND b");
});
