import type { AuditLogLine } from "../api/types";

export const NOUNS = ["alert", "audit", "audit_log", "dashboard", "finding", "key", "model_window", "permission_set", "query", "session", "setting", "user"];
export const WAYS = ["web", "mcp", "orgctl", "system"];

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

/** Who acted: the name, or what acted without one. */
export function whoOf({ actor, actor_kind, key_name }: AuditLogLine): string {
  return key_name ? `${actor} (by ${key_name})` : actor || actor_kind;
}
