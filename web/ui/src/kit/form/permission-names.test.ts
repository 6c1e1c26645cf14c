import assert from "node:assert/strict";
import { test } from "node:test";
import { byNoun, FOR_KEYS, FOR_PEOPLE, permissionsText } from "./permission-names";

test("no permission is listed twice", () => {
  assert.equal(new Set(FOR_PEOPLE).size, FOR_PEOPLE.length);
});

test("permissions are grouped by their noun, and none is lost", () => {
  const groups = byNoun(FOR_KEYS);
  assert.deepEqual(groups[0], { noun: "events", tokens: ["events:add", "events:read", "events:delete"] });
  assert.equal(groups.flatMap(({ tokens }) => tokens).length, FOR_KEYS.length);
});

test("few permissions are named, many are counted", () => {
  assert.equal(permissionsText([]), "none");
  assert.equal(permissionsText(["events:add"]), "events:add");
  assert.equal(permissionsText(FOR_KEYS), `${FOR_KEYS.length} permissions`);
});
