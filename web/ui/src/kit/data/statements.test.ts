import assert from "node:assert/strict";
import { test } from "node:test";
import { sqlOfFinding, sqlOfRule } from "./statements";

test("a rule in SQL has a statement, others have none", () => {
  assert.equal(sqlOfRule({ trigger_kind: "custom_sql", trigger_spec: { sql: "SELECT 1" } }), "SELECT 1");
  assert.equal(
    sqlOfRule({ trigger_kind: "per_event", trigger_spec: { event_type: "error", lookback_secs: 60 } }),
    undefined,
  );
});

test("the statement of a finding is the list, not the numbers", () => {
  const [numbers, sessions, events] = ["numbers", "sessions", "events"].map((title) => ({
    title,
    sql: `SELECT ${title}`,
  }));
  assert.equal(sqlOfFinding([numbers!, sessions!, events!]), "SELECT sessions");
  assert.equal(sqlOfFinding([numbers!]), "SELECT numbers");
  assert.equal(sqlOfFinding([]), undefined);
});
