// The permissions that can be given, in the order in which pages show them.
import type { GrantBody, KeyBody } from "../../api/types";

export type KeyPermission = NonNullable<KeyBody["permissions"]>[number];
export type Permission = NonNullable<GrantBody["permission_added"]>[number];

/** Those that a key can hold. */
export const FOR_KEYS = [
  "events:add",
  "events:read",
  "events:delete",
  "evaluations:read",
  "evaluations:trigger",
  "queries:read",
  "queries:run",
  "queries:write",
  "queries:delete",
  "dashboards:read",
  "dashboards:write",
  "dashboards:delete",
  "alerts:read",
  "alerts:write",
  "incidents:read",
  "incidents:write",
  "incidents:ack",
  "audits:read",
  "audits:write",
  "keys:read",
  "keys:create",
  "keys:disable",
  "keys:regenerate",
  "users:read",
  "users:create",
  "users:update",
  "users:delete",
  "settings:read",
  "settings:write",
  "agent:use",
] as const satisfies readonly KeyPermission[];

/** Those that a member or a permission set can hold. */
export const FOR_PEOPLE: readonly Permission[] = [...FOR_KEYS, "keys:update"];

type Missing = Exclude<KeyPermission, (typeof FOR_KEYS)[number]>;
// A new permission of the API that the list lacks is a type error here.
const _complete: [Missing] extends [never] ? true : Missing = true;
void _complete;

export interface PermissionGroup {
  /** "events" */
  noun: string;
  tokens: string[];
}

/** Groups permissions by their noun. */
export function byNoun(tokens: readonly string[]): PermissionGroup[] {
  const groups = new Map<string, string[]>();
  for (const token of tokens) {
    const noun = token.slice(0, token.indexOf(":"));
    groups.set(noun, [...(groups.get(noun) ?? []), token]);
  }
  return [...groups].map(([noun, found]) => ({ noun, tokens: found }));
}

/** "12 permissions", or their names if there are few. */
export function permissionsText(tokens: readonly string[]): string {
  if (!tokens.length) return "none";
  return tokens.length <= 3 ? tokens.join(", ") : `${tokens.length} permissions`;
}
