import assert from "node:assert/strict";
import { test } from "node:test";
import type { SetRow } from "../api/types";
import { grantOf, grantText, resultOf } from "./model";

const SETS: SetRow[] = [
  { name: "readers", description: "", permissions: ["events:read", "queries:read"], is_builtin: false, user_count: 0 },
];

test("a grant says what differs from its set", () => {
  const grant = grantOf(SETS, "readers", ["events:read", "queries:run"]);
  assert.deepEqual(grant, {
    permission_set: "readers",
    permission_added: ["queries:run"],
    permission_removed: ["queries:read"],
  });
  assert.equal(grantText(grant), "readers, 1 added, 1 removed");
});

test("a grant results in what it was made for", () => {
  for (const wanted of [[], ["events:read"], ["events:read", "queries:read"], ["keys:update", "events:add"]])
    for (const name of [null, "readers"])
      assert.deepEqual(new Set(resultOf(SETS, grantOf(SETS, name, wanted))), new Set(wanted));
});
