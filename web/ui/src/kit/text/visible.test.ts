import assert from "node:assert/strict";
import { test } from "node:test";
import { visible } from "./visible";

test("characters that hide or reorder are written out", () => {
  assert.equal(visible("a\u202Eb\u200Bc"), "a⟨U+202E⟩b⟨U+200B⟩c");
  assert.equal(visible("line\n\ttab"), "line\n\ttab");
});

test("characters without a look are written out, of which some models read sentences", () => {
  assert.equal(visible("a\u{E0041}\u{E0100}"), "a⟨U+E0041⟩⟨U+E0100⟩");
  assert.equal(visible("a\uFE01b\uFE0Fc\u200Dd\u3164"), "a⟨U+FE01⟩b⟨U+FE0F⟩c⟨U+200D⟩d⟨U+3164⟩");
  assert.equal(visible("\0\x1b[2J\x7f\u2028"), "⟨U+0000⟩⟨U+001B⟩[2J⟨U+007F⟩⟨U+2028⟩");
});

test("emoji and scripts that join their letters stay as they are", () => {
  for (const text of ["👩\u200D🚀", "❤\uFE0F", "👍🏽", "می\u200Cخواهم", "क्\u200Dष", "שלום", "1\uFE0F\u20E3"])
    assert.equal(visible(text), text);
});
