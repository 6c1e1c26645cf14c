import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "./markdown";

const own = "/o/acme/";

test("paragraphs, lists, code, headings and tables", () => {
  assert.deepEqual(
    parse(
      "# Why\nIt **failed** `3` times.\n\n1. one\n2. *two*\n\n```sql\nSELECT 1\n```\n| a | b |\n|---|---|\n| 1 | 2 |",
      own,
    ),
    [
      { tag: "h3", of: ["Why"] },
      { tag: "p", of: ["It ", { tag: "strong", of: ["failed"] }, " ", { tag: "code", of: ["3"] }, " times."] },
      { tag: "ol", items: [["one"], [{ tag: "em", of: ["two"] }]] },
      { tag: "pre", text: "SELECT 1" },
      { tag: "table", head: [["a"], ["b"]], rows: [[["1"], ["2"]]] },
    ],
  );
});

test("only links to the organization are links", () => {
  assert.deepEqual(
    parse("[s](/o/acme/sessions/s) [x](https://evil.example/?d=1) [j](javascript:alert) [o](/o/other/keys)", own),
    [{ tag: "p", of: [{ href: "/o/acme/sessions/s", of: ["s"] }, " ", "x", " ", "j", " ", "o"] }],
  );
});

test("no spelling of a path leads out of the organization", () => {
  for (const path of [
    "/o/acme/../other/keys",
    "/o/acme/%2e%2e/%2E./v1/audit-log/export",
    "/o/acme/./..",
    "/o/acme\\..\\x",
    "/o/acme/a\\..\\..\\x",
  ])
    assert.deepEqual(parse(`[x](${path})`, own), [{ tag: "p", of: ["x"] }], path);
  for (const path of ["/o/acme/sessions/a..b", "/o/acme/sessions/...", "/o/acme/events?search=/../#/.."])
    assert.deepEqual(parse(`[x](${path})`, own), [{ tag: "p", of: [{ href: path, of: ["x"] }] }], path);
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

test("links of texts of others stay as they were sent", () => {
  for (const link of ["[x](/o/acme/keys)", "[x](https://evil.example/)", "[x](javascript:alert)", "(unverified)"])
    assert.deepEqual(parse(`see ${link}`, null), [{ tag: "p", of: ["see ", link] }], link);
});
