import assert from "node:assert/strict";
import { test } from "node:test";
import { isAfter, nextMicrosecond, padded } from "./moments";

test("moments are microseconds apart, also at the end of a second", () => {
  assert.equal(nextMicrosecond("2026-11-02T10:00:00.000099Z"), "2026-11-02T10:00:00.000100Z");
  assert.equal(nextMicrosecond("2026-12-31T23:59:59.999999Z"), "2027-01-01T00:00:00.000000Z");
  assert.ok(padded("2026-11-02T10:00:00.123Z") < padded("2026-11-02T10:00:00.123001Z"));
});

test("sessions of one moment are ordered by their ids", () => {
  const at = (session_id: string, last_event_at = "2026-11-02T10:00:00.000001Z") => ({ session_id, last_event_at });
  assert.ok(isAfter(at("b"), at("a")) && !isAfter(at("a"), at("b")) && !isAfter(at("a"), at("a")));
  assert.ok(isAfter(at("a", "2026-11-02T10:00:00.000002Z"), at("b")));
});
