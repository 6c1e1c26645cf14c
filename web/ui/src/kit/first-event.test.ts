import assert from "node:assert/strict";
import { test } from "node:test";
import { commandFor } from "./first-event";

test("the command is for this origin and holds the secret", () => {
  const now = new Date("2026-11-02T08:00:00Z");
  const line = commandFor("curl", "http://127.0.0.1:8000", "wp_x", now);
  assert.ok(line.startsWith("curl -sS http://127.0.0.1:8000/v1/events -H 'Authorization: Bearer wp_x'"));
  assert.equal(line.includes("\n"), false);
  assert.ok(commandFor("Python", "http://127.0.0.1:8000", "wp_x", now).includes('"Bearer wp_x"'));
});
