import assert from "node:assert/strict";
import { test } from "node:test";
import { chunks } from "./chunks";

test("parts are the text, and end with a line where they can", () => {
  for (const text of ["", "short", "x".repeat(100_000), "a line of text\n".repeat(10_000), "🚀".repeat(50_001)]) {
    const found = chunks(text);
    assert.equal(found.join(""), text);
    assert.ok(found.every((part) => part.length <= 16 * 1024));
    for (const part of found) assert.equal(encodeURIComponent(part).length > 0, part.length > 0);
  }
  assert.ok(chunks("a line of text\n".repeat(10_000)).every((part) => part.endsWith("\n")));
});
