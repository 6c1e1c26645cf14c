import assert from "node:assert/strict";
import { test } from "node:test";
import { attributeColumns, columnLabel, columnsText, shownKeys } from "./shown";

const STANDARD = ["cost", "user"];

test("the URL names columns where they are not the standard ones", () => {
  const cases: [string[], string | null][] = [
    [["user", "cost"], null],
    [[], "none"],
    [["cost"], "cost"],
    [["user", "attr.a,b"], "user,attr.a\\,b"],
  ];
  for (const [keys, text] of cases) {
    assert.equal(columnsText(keys, STANDARD), text);
    assert.deepEqual(shownKeys(text, STANDARD).sort(), [...keys].sort());
  }
  assert.equal(columnsText([], []), null);
  assert.deepEqual(shownKeys("version,constructor,none,payload", STANDARD), ["version"]);
});

test("each attribute of the rows has a column", () => {
  const rows = [{ attributes: { plan: "pro", branch: "main" } }, { attributes: {} }, { attributes: { plan: "free" } }];
  assert.deepEqual(attributeColumns(rows), ["attr.branch", "attr.plan"]);
  assert.equal(columnLabel("attr.plan"), "Attribute: plan");
  assert.equal(columnLabel("tags"), "Tags");
});
