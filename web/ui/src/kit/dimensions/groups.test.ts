import assert from "node:assert/strict";
import { test } from "node:test";
import { groupText } from "./groups";

test("groups in words", () => {
  assert.equal(groupText(null), "");
  assert.equal(groupText({ user_id: "zoe" }), "user zoe");
  assert.equal(groupText({ agent_version: null }), "version none");
  assert.equal(groupText({ "attr.plan": "pro" }), "plan pro");
});
