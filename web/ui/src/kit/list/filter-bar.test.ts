import assert from "node:assert/strict";
import { test } from "node:test";
import { DECLARED } from "../../api/filters";
import { filterBar, filterNames } from "./filter-bar";

test("fields come in the order of the page, and what is declared later follows", () => {
  const fields = filterBar("sessions", { first: ["environment", "agent_id"], search: "session_id" });
  const params = fields.map(({ param }) => param);
  assert.deepEqual(params.slice(0, 2), ["environment", "agent_id"]);
  const labelled = DECLARED["sessions"]!.filter(({ label }) => label).map(({ param }) => param);
  assert.deepEqual([...params].sort(), [...labelled].sort());
  assert.deepEqual(
    fields.filter(({ search }) => search).map(({ param }) => param),
    ["session_id"],
  );
});

test("a filter of few values has those, a name what events have, an id is typed", () => {
  const fields = new Map(filterBar("events", { first: [] }).map((field) => [field.param, field]));
  assert.deepEqual(fields.get("errored")!.choices, ["true", "false"]);
  assert.equal(typeof fields.get("tool_name")!.choices, "function");
  assert.equal(fields.get("tool_name")!.typed, true);
  assert.equal(fields.get("session_id")!.choices, undefined);
  assert.ok(fields.get("user_id")!.asks && !fields.get("tool_name")!.asks);
  assert.equal(fields.get("attr")!.attributes, true);
  assert.ok(!fields.has("search") && filterNames("events").includes("search"));
});
