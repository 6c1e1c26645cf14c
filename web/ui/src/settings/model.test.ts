import assert from "node:assert/strict";
import { test } from "node:test";
import type { SettingRow } from "../api/types";
import { draftOf, grouped, hintOf, isSet, settingOf } from "./model";

function row(key: string, kind: string, value: SettingRow["value"], standard: SettingRow["value"] = value): SettingRow {
  const schema = {
    key,
    kind,
    title: key,
    description: "",
    default: standard,
    min: null,
    max: null,
    unit: null,
    options: null,
  };
  return {
    key,
    value,
    value_set: value !== standard,
    updated_at: null,
    updated_by: null,
    note: null,
    scope: "org",
    schema,
  };
}

test("a value and its field lead to each other", () => {
  const rows = [
    row("allowed_sign_ins", "email_allowlist", ["a@example.com", "*@example.org"]),
    row("alerts.enabled_channels", "channel_set", ["email"]),
    row("otel.ingest_enabled", "boolean", false),
    row("session_ttl_secs", "positive_int", 60),
    row("alerts.webhook_default_url", "url", "https://example.com"),
  ];
  for (const one of rows) assert.deepEqual(settingOf(one, draftOf(one)), one.value);
});

test("lists are read from lines and commas", () => {
  const list = row("redaction.payload_keys", "string_list", []);
  assert.deepEqual(settingOf(list, " a, b\n\nc "), ["a", "b", "c"]);
});

test("what is no number is left to the server", () => {
  assert.equal(settingOf(row("otp_ttl_secs", "positive_int", 600), "soon"), "soon");
});

test("no setting is missing", () => {
  const rows = [
    row("otel.other_spans", "choice", "all"),
    row("new.one", "text", "x"),
    row("otp_ttl_secs", "positive_int", 1),
  ];
  const groups = grouped(rows);
  assert.deepEqual(
    groups.map(({ title }) => title),
    ["Sign-in and members", "OpenTelemetry", "Other"],
  );
  assert.equal(groups.flatMap((group) => group.rows).length, 3);
});

test("a setting is set when it differs from its default", () => {
  assert.equal(isSet(row("a", "url", "https://example.com", "")), true);
  assert.equal(isSet(row("a", "url", "")), false);
});

test("a hint says what a field takes, and its default", () => {
  assert.equal(hintOf(row("a", "url", "")), "Default: none.");
  assert.equal(hintOf(row("a", "boolean", true)), "Default: on.");
  assert.equal(hintOf(row("a", "string_list", [])), "One per line. Default: none.");
  const span = row("a", "positive_int", 86_400);
  assert.equal(
    hintOf({ ...span, schema: { ...span.schema, min: 60, max: 172_800, unit: "seconds" } }),
    "From 60 to 172800 seconds (2 d). Default: 86400 seconds (1 d).",
  );
  assert.equal(hintOf({ ...row("a", "secret", ""), value_set: true }), "A secret is set.");
});
