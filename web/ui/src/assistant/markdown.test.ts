import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "./markdown";

const own = "/o/acme/";

test("paragraphs, lists, code, headings and tables", () => {
  assert.deepEqual(parse("# Why\nIt **failed** `3` times.\n\n1. one\n2. *two*\n\n```sql\nSELECT 1\n```\n| a | b |\n|---|---|\n| 1 | 2 |", own), [
    { tag: "h3", of: ["Why"] },
    { tag: "p", of: ["It ", { tag: "strong", of: ["failed"] }, " ", { tag: "code", of: ["3"] }, " times."] },
    { tag: "ol", items: [["one"], [{ tag: "em", of: ["two"] }]] },
    { tag: "pre", text: "SELECT 1" },
    { tag: "table", head: [["a"], ["b"]], rows: [[["1"], ["2"]]] },
  ]);
});

test("only links to the organization are links", () => {
  assert.deepEqual(parse("[s](/o/acme/sessions/s) [x](https://evil.example/?d=1) [j](javascript:alert) [o](/o/other/keys)", own), [
    { tag: "p", of: [{ href: "/o/acme/sessions/s", of: ["s"] }, " ", "x", " ", "j", " ", "o"] },
  ]);
});

test("HTML and images are text", () => {
  assert.deepEqual(parse("<img src=x onerror=alert(1)> ![i](https://evil.example/i.png)", own), [
    { tag: "p", of: ["<img src=x onerror=alert(1)> !", "i"] },
  ]);
});

test("an unverified number is marked, and code that is not closed yet is code", () => {
  assert.deepEqual(parse("97 (unverified) of 4\n```\nSELECT", own), [
    { tag: "p", of: ["97 ", { unverified: true }, " of 4"] },
    { tag: "pre", text: "SELECT" },
  ]);
});
