import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, questionOf } from "./model";

test("ids stand one a line, and a person is named by a field or as a user", () => {
  const others = { ids: " a \n\nb c\n", user: " Zoe", field: " user.email ", equals: " Zoe" };
  assert.deepEqual(bodyOf({ ...others, of: "sessions" }), { session_ids: ["a", "b c"] });
  assert.deepEqual(bodyOf({ ...others, of: "user" }), { user_id: " Zoe" });
  assert.deepEqual(bodyOf({ ...others, of: "person" }), { field: "user.email", equals: " Zoe" });
});

test("the question says what goes and what stays", () => {
  const removed = { clickhouse: { events: 12, evaluations: 0 }, postgres: { evaluation_jobs: 1 }, redis: {} };
  const { title, text } = questionOf({ sessions: 1, removed, remaining: { alerts: 2 } });
  assert.equal(title, "Delete 1 session?");
  assert.equal(
    text,
    "This removes 12 events, 1 evaluation jobs, for good. People's own 2 alerts mention them and stay.",
  );
  assert.match(
    questionOf({ sessions: 0, removed: { clickhouse: {}, postgres: {}, redis: {} }, remaining: {} }).text,
    /removes nothing/,
  );
});
