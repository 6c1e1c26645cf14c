import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyRow } from "../api/types";
import { expiryOf, ordered, PRESETS, presetOf, stateOf } from "./model";

const NOW = new Date("2026-11-02T08:00:00Z");

function key(name: string, changes: Partial<KeyRow> = {}): KeyRow {
  return {
    id: name,
    name,
    permissions: [],
    created_at: "2026-11-01T00:00:00Z",
    revoked_at: null,
    expires_at: null,
    last_used_at: null,
    is_protected: false,
    ...changes,
  };
}

test("a key is active, disabled or expired", () => {
  assert.equal(stateOf(key("a"), NOW), "active");
  assert.equal(stateOf(key("a", { expires_at: "2026-11-03T00:00:00Z" }), NOW), "active");
  assert.equal(stateOf(key("a", { expires_at: "2026-11-02T08:00:00Z" }), NOW), "expired");
  assert.equal(stateOf(key("a", { revoked_at: "2026-11-02T07:00:00Z" }), NOW), "disabled");
});

test("live keys come first", () => {
  const rows = [key("b"), key("a", { revoked_at: "2026-11-02T07:00:00Z" }), key("c")];
  assert.deepEqual(
    ordered(rows, NOW).map(({ name }) => name),
    ["b", "c", "a"],
  );
});

test("the presets only read, or only send", () => {
  assert.deepEqual(PRESETS["Collector"], ["events:add"]);
  assert.ok(PRESETS["Read-only"]!.every((token) => token.endsWith(":read")));
});

test("a key expires at a moment or after a span", () => {
  assert.equal(expiryOf(" ", "Europe/Berlin", NOW), null);
  assert.equal(expiryOf("2027-01-31", "Europe/Berlin", NOW), "2027-01-30T23:00:00.000Z");
  assert.equal(expiryOf("90 d", "Europe/Berlin", NOW), "2027-01-31T08:00:00.000Z");
  assert.equal(expiryOf("2027-01-31T00:00:00Z", "Europe/Berlin", NOW), "2027-01-31T00:00:00.000Z");
  assert.equal(expiryOf("soon", "Europe/Berlin", NOW), "soon");
});

test("a choice is recognized as a preset", () => {
  assert.equal(presetOf(["events:add"]), "Collector");
  assert.equal(presetOf([...PRESETS["Read-only"]!].reverse()), "Read-only");
  assert.equal(presetOf(["events:add", "events:read"]), null);
});
