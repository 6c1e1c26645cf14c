import assert from "node:assert/strict";
import { test } from "node:test";
import { eventQuery } from "./event-request";

test("both answers to one question exclude nothing", () => {
  assert.equal(eventQuery({ errored: "true,false" }, null, null)["errored"], null);
  assert.equal(eventQuery({ errored: "false" }, null, null)["errored"], "false");
});
