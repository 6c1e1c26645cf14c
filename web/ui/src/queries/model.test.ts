import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../api/errors";
import { changedValues, fitsUrl, isListed, lineAndColumn, placeOf, reasonOf, typedIn } from "./model";

const SQL = "SELECT foo,\n  sleep(1)\nFROM evants";

function marked(message: string): string | null {
  const place = placeOf(SQL, message);
  return place && SQL.slice(place.from, place.to);
}

test("the place of a refusal is the word at its line and column", () => {
  assert.equal(marked("evants at line 3, column 6 is not a published table"), "evants");
  assert.equal(marked("sleep at line 2, column 3 is not available"), "sleep");
});

test("the place of the database's message is its position, or the name that it quotes", () => {
  assert.equal(marked("Syntax error: failed at position 8 (line 1, col 8): foo"), "foo");
  assert.equal(marked("Unknown expression identifier `foo`. In scope SELECT"), "foo");
  assert.equal(marked("a ( is not closed"), null);
  assert.equal(marked("failed at line 99, column 1"), null);
});

test("columns count characters, not units", () => {
  const sql = "SELECT '🙂', foo";
  const place = placeOf(sql, "at line 1, column 13");
  assert.equal(sql.slice(place!.from, place!.to), "foo");
  assert.equal(lineAndColumn(sql, place!.from), "line 1, column 13");
});

test("the reason is the database's, else the field's", () => {
  const error = (body: object) => new ApiError(422, body, null, null);
  assert.equal(reasonOf(error({ error: "refused", detail: "Unknown `foo`" })), "Unknown `foo`");
  assert.equal(reasonOf(error({ error: "sql: no", fields: { sql: ["no"] } })), "no");
  assert.equal(reasonOf(error({ error: "refused" })), "refused");
});

test("the URL takes 4 kB, counted in bytes", () => {
  assert.ok(fitsUrl("a".repeat(4096)));
  assert.ok(!fitsUrl("ä".repeat(2049)));
});

test("a URL that the server would refuse is not written", () => {
  assert.ok(!fitsUrl("ä".repeat(2048)));
});

test("parameters of the URL come before those of the saved query", () => {
  assert.deepEqual(typedIn(new URLSearchParams("sql=x&p2=b&page=1"), { 1: "a", 2: "c" }), { 1: "a", 2: "b" });
});

test("a tile gets only the values that differ from the saved ones", () => {
  assert.deepEqual(changedValues({ 1: "a", 2: "b", 3: "" }, { 1: "a", 2: "c" }), { 2: "b", 3: "" });
});

test("a link names a list that has a statement, and nothing else", () => {
  const lists = [
    "/events",
    "/events/summary?a=b%20c",
    "/sessions?x=1",
    "/sessions/a%2Fb/outline",
    "/evaluations/aggregate",
  ];
  assert.ok(lists.every(isListed));
  const others = [
    "/keys",
    "//evil.example/events",
    "/events/../keys",
    "/sessions/a/export",
    "https://evil.example",
    "/events#x",
  ];
  assert.deepEqual(others.filter(isListed), []);
});
