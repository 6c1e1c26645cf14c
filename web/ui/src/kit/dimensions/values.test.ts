import assert from "node:assert/strict";
import { test } from "node:test";
import { attributeChoices, attributeWords, missingWords } from "./values";

test("a star takes every value, and a value of that name is written with a backslash", () => {
  const choices = attributeChoices([{ value: "pro", note: "12" }, { value: "*" }]);
  assert.deepEqual(
    choices.map(({ value }) => value),
    ["*", "pro", "\\*"],
  );
  assert.deepEqual(
    choices.map(({ value }) => attributeWords(value)),
    ["any value", "pro", "*"],
  );
  assert.deepEqual(
    choices.map(({ label }) => label),
    ["any value", "pro", "*"],
  );
});

test("what is missing has words", () => {
  assert.deepEqual(["user_id", "agent_version", "tag", "attr.plan"].map(missingWords), [
    "no user",
    "no version",
    "no tag",
    "no attribute plan",
  ]);
});
