import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_FILTERS } from "./filters";
import { session } from "./fixtures";
import { shownQuery } from "./shown-query";

const { outline } = session([
  { t: 0, type: "agent_start" },
  { t: 10, type: "tool_use", name: "book", pair: 1 },
  { t: 20, type: "error", name: "book" },
  { t: 30, type: "hook_triggered", name: "policy" },
]);

test("nothing is asked for without filters", () => {
  assert.deepEqual(Object.values(shownQuery(outline, NO_FILTERS)).filter(Boolean), []);
});

test("filters are those of the API, and a name is that of its column", () => {
  const query = shownQuery(outline, {
    types: ["a,b", "c"],
    agents: ["d"],
    names: ["policy"],
    errored: true,
    window: { from: 5, to: 30 },
  });
  assert.deepEqual(query, {
    event_type: "a\\,b,c",
    agent_id: "d",
    errored: "true",
    hook_name: "policy",
    ts_from: "2026-11-01T20:43:23.085000Z",
    ts_to: "2026-11-01T20:43:23.110001Z",
  });
  assert.deepEqual(Object.keys(shownQuery(outline, { ...NO_FILTERS, names: ["book"] })), [
    "event_type",
    "agent_id",
    "errored",
  ]);
});
