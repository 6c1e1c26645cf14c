import assert from "node:assert/strict";
import { test } from "node:test";
import { type Choice, noteOf, takenByEnter } from "./choices";

const AGENTS: Choice[] = [{ value: "airline" }, { value: "airline-support" }, { value: "7f", label: "Billing" }];

test("Enter takes the choice of that name, or the only one that fits", () => {
  for (const typed of [true, false]) {
    assert.equal(takenByEnter(AGENTS, "bil", typed), "7f");
    assert.equal(takenByEnter(AGENTS, " Airline ", typed), "airline");
    assert.equal(takenByEnter(AGENTS, "airline-s", typed), "airline-support");
    // Several fit.
    assert.equal(takenByEnter(AGENTS, "airl", typed), null);
    assert.equal(takenByEnter(AGENTS, " ", typed), null);
  }
});

test("a text that is no choice is taken only where the field says so", () => {
  assert.equal(takenByEnter(AGENTS, " desk ", true), "desk");
  assert.equal(takenByEnter(AGENTS, "desk", false), null);
  assert.equal(noteOf(AGENTS, "desk ", true), "Enter uses “desk”");
  assert.equal(noteOf(AGENTS, "airl", true), "Shift+Enter uses “airl”");
  assert.equal(noteOf(AGENTS, "airline", true), null);
  assert.equal(noteOf(AGENTS, "desk", false), "Nothing fits");
  assert.equal(noteOf(AGENTS, "airl", false), null);
  assert.equal(noteOf(AGENTS, " ", true), null);
});
