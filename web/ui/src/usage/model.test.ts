import assert from "node:assert/strict";
import { test } from "node:test";
import type { LimitsToday } from "../api/types";
import { limitFigures } from "./model";

const limits = (given: Partial<LimitsToday>) =>
  ({
    enforced: true,
    key_requests_per_sec: 0,
    key_events_per_sec: 0,
    org_events_per_day: 0,
    events: 0,
    refused_requests: 0,
    ...given,
  }) as LimitsToday;

test("only limits that are set are shown, and what they refused", () => {
  assert.deepEqual(limitFigures(limits({ events: 7 })), []);
  const figures = limitFigures(
    limits({ enforced: false, org_events_per_day: 5000, events: 1200, refused_requests: 3 }),
  );
  assert.deepEqual(
    figures.map(({ label }) => label),
    ["Events today", "Requests over a limit today"],
  );
  assert.match(figures[0]!.value, /^1.?200 of 5.?000$/);
  assert.equal(figures[1]!.value, "3");
});
