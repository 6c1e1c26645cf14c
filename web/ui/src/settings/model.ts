import type { SettingRow } from "../api/types";
import { spanText } from "../kit/time/spans";

export type Value = SettingRow["value"];
/** The content of a setting's field: a text, lines of text, a mark, or marks. */
export type Draft = string | boolean | string[];

interface Group {
  title: string;
  /** The beginnings of the keys. */
  prefixes: readonly string[];
}

const GROUPS: readonly Group[] = [
  { title: "Sign-in and members", prefixes: ["allowed_sign_ins", "session_", "otp_", "default_user_"] },
  { title: "Alerts", prefixes: ["alerts."] },
  { title: "Data", prefixes: ["retention.", "redaction.", "exports."] },
  { title: "Limits", prefixes: ["limits."] },
  { title: "OpenTelemetry", prefixes: ["otel."] },
];

/** The settings in groups. Those that fit no group come last, so that a new one is not missing. */
export function grouped(rows: readonly SettingRow[]): { title: string; rows: SettingRow[] }[] {
  const left = new Set(rows);
  const groups = GROUPS.map(({ title, prefixes }) => {
    const found = rows.filter(({ key }) => prefixes.some((prefix) => key.startsWith(prefix)));
    for (const row of found) left.delete(row);
    return { title, rows: found };
  });
  return [...groups, { title: "Other", rows: [...left] }].filter((group) => group.rows.length > 0);
}

const LISTS = new Set(["email_allowlist", "email_list", "string_list"]);

export function isList({ schema }: SettingRow): boolean {
  return LISTS.has(schema.kind);
}

/** Turns a stored value into the content of its field. A list has a line for each item. */
export function draftOf(row: SettingRow): Draft {
  const { value } = row;
  if (typeof value === "boolean") return value;
  if (Array.isArray(value)) return isList(row) ? value.join("\n") : value;
  return `${value}`;
}

/** The value that a field means. The server checks it. */
export function settingOf(row: SettingRow, draft: Draft): Value {
  if (typeof draft !== "string") return draft;
  if (isList(row))
    return draft
      .split(/[\n,]/)
      .map((item) => item.trim())
      .filter(Boolean);
  if (row.schema.kind === "positive_int" && /^-?\d+$/.test(draft.trim())) return Number(draft);
  return draft;
}

/** Whether a setting differs from its default, or has a secret. */
export function isSet({ value_set, schema, value }: SettingRow): boolean {
  return value_set && (schema.kind === "secret" || JSON.stringify(value) !== JSON.stringify(schema.default));
}

/** A value as a person reads it: "on", "a, b", "86400 seconds (1 d)". */
export function valueText({ schema: { unit } }: SettingRow, value: Value): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.join(", ") || "none";
  if (value === "") return "none";
  const span = unit === "seconds" && typeof value === "number" ? ` (${spanText(value)})` : "";
  return `${value}${unit ? ` ${unit}` : ""}${span}`;
}

/** Whether a secret is set: its value is never shown. */
export function secretText({ value_set }: SettingRow): string {
  return value_set ? "A secret is set." : "No secret is set.";
}

/** The sentence under a field: what it takes, and its default. */
export function hintOf(row: SettingRow): string {
  const { kind, min, max, default: standard } = row.schema;
  if (kind === "secret") return secretText(row);
  const takes = isList(row)
    ? "One per line. "
    : min !== null && max !== null
      ? `From ${min} to ${valueText(row, max)}. `
      : "";
  return `${takes}Default: ${valueText(row, standard)}.`;
}
