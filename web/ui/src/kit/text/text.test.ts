import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces } from "./text";

test("only http and https become links", () => {
  const found = pieces("see https://example.com/a?b=1, or javascript:alert(1)");
  assert.deepEqual(found, [
    { text: "see ", href: null },
    { text: "https://example.com/a?b=1", href: "https://example.com/a?b=1" },
    { text: ", or javascript:alert(1)", href: null },
  ]);
});

test("a text of many addresses has few links, and nothing of it is lost", () => {
  const text = "http://a.example ".repeat(10_000);
  const found = pieces(text);
  assert.ok(found.filter(({ href }) => href).length <= 500);
  assert.equal(found.map((piece) => piece.text).join(""), text);
});
