import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditLogLine } from "../api/types";
import { changesOf, whoOf } from "./model";

const line = (given: Partial<AuditLogLine>) => ({ before: null, after: null, actor: "", actor_kind: "user", key_name: null, ...given }) as AuditLogLine;

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
  assert.equal(whoOf(line({ actor: "a@b.c", key_name: "admin" })), "a@b.c (by admin)");
});
