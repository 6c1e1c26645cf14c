import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf, isWhole } from "./model";

test("a code is six digits, or twelve letters, however it is typed", () => {
  assert.deepEqual(["042 195", "042195\n7", " 04a2"].map(codeOf), ["042195", "042195", "042"]);
  assert.deepEqual(["ABCD-efgh jkmn", "abcdefghjkmnp", "a1b"].map(codeOf), ["abcdefghjkmn", "abcdefghjkmn", "ab"]);
  assert.deepEqual(["042195", "abcdefghjkmn", "04219", "abcdef"].map(isWhole), [true, true, false, false]);
});
