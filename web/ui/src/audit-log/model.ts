import type { AuditLogLine } from "../api/types";

export const NOUNS = [
  "alert",
  "audit",
  "audit_log",
  "dashboard",
  "finding",
  "key",
  "model_window",
  "permission_set",
  "query",
  "session",
  "setting",
  "user",
];
/** The front ends. `web` serves people in the UI, and keys by the API. */
export const WAYS = [{ value: "web", label: "web or API" }, { value: "mcp" }, { value: "orgctl" }, { value: "system" }];

export interface Change {
  field: string;
  before: string;
  after: string;
}

function textOf(values: AuditLogLine["before"], field: string): string {
  if (!values || !Object.hasOwn(values, field)) return "";
  const value: unknown = values[field];
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The fields of a line, each with its values before and after. */
export function changesOf({ before, after }: AuditLogLine): Change[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...fields].map((field) => ({ field, before: textOf(before, field), after: textOf(after, field) }));
}

/** Who acted: a person's address alone, any other name behind its kind, or what acted without a name. */
export function whoOf({ actor, actor_kind, key_name }: AuditLogLine): string {
  const named = actor_kind === "key" || actor_kind === "operator" ? `${actor_kind} ${actor}` : actor || actor_kind;
  return key_name ? `${named} (by key ${key_name})` : named;
}

/** How: with a key it was the API, also where the same process serves the UI. */
export function wayOf({ actor_kind, key_name, way }: AuditLogLine): string {
  return way === "web" && (actor_kind === "key" || key_name !== null) ? "API" : way;
}
