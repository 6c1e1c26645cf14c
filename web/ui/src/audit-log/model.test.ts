import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditLogLine } from "../api/types";
import { changesOf, wayOf, whoOf } from "./model";

const line = (given: Partial<AuditLogLine>) =>
  ({ before: null, after: null, actor: "", actor_kind: "user", key_name: null, ...given }) as AuditLogLine;

test("fields of both sides are shown once, also oddly named ones", () => {
  const found = changesOf(line({ before: { name: "a", constructor: 1 }, after: { name: "b", on: [true] } }));
  assert.deepEqual(found, [
    { field: "name", before: "a", after: "b" },
    { field: "constructor", before: "1", after: "" },
    { field: "on", before: "", after: "[true]" },
  ]);
  assert.deepEqual(changesOf(line({})), []);
});

test("a line without a name says what acted", () => {
  assert.equal(whoOf(line({ actor_kind: "anonymous" })), "anonymous");
  assert.equal(whoOf(line({ actor: "a@b.c" })), "a@b.c");
  assert.equal(whoOf(line({ actor: "a@b.c", key_name: "admin" })), "a@b.c (by key admin)");
  assert.equal(whoOf(line({ actor_kind: "key", actor: "ci" })), "key ci");
  assert.equal(whoOf(line({ actor_kind: "operator", actor: "root" })), "operator root");
  assert.equal(whoOf(line({ actor_kind: "system", actor: "system" })), "system");
});

test("what a key did came by the API", () => {
  assert.equal(wayOf(line({ way: "web" })), "web");
  assert.equal(wayOf(line({ way: "web", actor_kind: "key" })), "API");
  assert.equal(wayOf(line({ way: "web", key_name: "admin" })), "API");
  assert.equal(wayOf(line({ way: "mcp", actor_kind: "key" })), "mcp");
});
