import assert from "node:assert/strict";
import { test } from "node:test";
import { eventConditions, eventQuery, eventsSql } from "./event-conditions";

test("both answers to one question exclude nothing", () => {
  assert.equal(eventQuery({ errored: "true,false" }, null, null)["errored"], null);
  assert.equal(eventQuery({ errored: "false" }, null, null)["errored"], "false");
});

test("conditions name the columns, and values stay literals", () => {
  assert.deepEqual(eventConditions({ agent_id: "a,it's", errored: "true", ts_from: "2026-11-01T00:00:00.000Z" }), [
    "agent_id IN ('a', 'it''s')",
    "is_error",
    "ts >= '2026-11-01T00:00:00.000Z'",
  ]);
  assert.deepEqual(eventConditions({}), []);
});

test("a search reads strings as they read, and scalars outside of them", () => {
  const [said] = eventConditions({ search: 'say "no"\n' });
  assert.equal(
    said,
    String.raw`arrayExists(s -> positionCaseInsensitiveUTF8(JSONExtractString(s), 'say "no"\n') > 0, extractAll(payload, '"(?:[^"\\\\]|\\\\.)*"'))`,
  );
  const [scalar] = eventConditions({ search: "12.5" });
  assert.ok(
    scalar!.startsWith(String.raw`(positionCaseInsensitiveUTF8(payload, '12.5') > 0 OR position(payload, '\\u') > 0)`),
  );
  assert.match(scalar!, /\n {2}AND \(arrayExists.*\n {4}OR positionCaseInsensitiveUTF8\(replaceRegexpAll\(payload,/);
});

test("a search leaves out keys", () => {
  assert.match(
    eventConditions({ search: "x y", search_exclude: "messages,it's" })[0]!,
    /arrayFilter\(m -> NOT m\.1 IN \('messages', 'it''s'\)/,
  );
  assert.deepEqual(eventConditions({ search_exclude: "messages" }), []);
});

test("the statement has the filters of the list", () => {
  assert.match(eventsSql({ tool_name: "book_flight" }), /WHERE tool_name IN \('book_flight'\)\nORDER BY ts DESC/);
});
