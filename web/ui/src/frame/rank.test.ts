import assert from "node:assert/strict";
import { test } from "node:test";
import { ranked, rankOf } from "./rank";

test("a label matches by its beginning, its words, or any part", () => {
  assert.equal(rankOf("Sessions", "sessions"), 0);
  assert.equal(rankOf("Sessions", "Ses"), 1);
  assert.equal(rankOf("Permission sets", "sets"), 2);
  assert.equal(rankOf("Permission sets", "set perm"), 2);
  assert.equal(rankOf("airline-009-t2", "009"), 2);
  assert.equal(rankOf("Sessions", "ion"), 3);
  assert.equal(rankOf("Sessions", "sessions sql"), null);
});

test("the best matches come first, and equal ones keep their order", () => {
  const items = ["Usage", "Model usage", "Users", "SQL"].map((label) => ({ label }));
  assert.deepEqual(
    ranked(items, "us", 9).map(({ label }) => label),
    ["Usage", "Users", "Model usage"],
  );
  assert.deepEqual(
    ranked(items, "", 2).map(({ label }) => label),
    ["Usage", "Model usage"],
  );
});
