import type { SetRow, UserRow } from "../api/types";
import { FOR_PEOPLE, type Permission } from "../kit/form/permission-names";

export interface Grant {
  permission_set: string | null;
  permission_added: Permission[];
  permission_removed: Permission[];
}

function permissionsOf(sets: readonly SetRow[], name: string | null): Set<string> {
  return new Set(sets.find((set) => set.name === name)?.permissions);
}

/** The permissions that a member with this grant holds. */
export function resultOf(sets: readonly SetRow[], grant: Grant): Permission[] {
  const held = permissionsOf(sets, grant.permission_set);
  return FOR_PEOPLE.filter(
    (token) => (held.has(token) || grant.permission_added.includes(token)) && !grant.permission_removed.includes(token),
  );
}

/** The grant with this set that results in these permissions. */
export function grantOf(sets: readonly SetRow[], name: string | null, wanted: readonly string[]): Grant {
  const held = permissionsOf(sets, name);
  return {
    permission_set: name,
    permission_added: FOR_PEOPLE.filter((token) => wanted.includes(token) && !held.has(token)),
    permission_removed: FOR_PEOPLE.filter((token) => held.has(token) && !wanted.includes(token)),
  };
}

/** "standard, 1 added, 2 removed" */
export function grantText(grant: Pick<UserRow, keyof Grant>): string {
  const { permission_set, permission_added, permission_removed } = grant;
  const parts = [permission_set ?? "no set"];
  if (permission_added.length) parts.push(`${permission_added.length} added`);
  if (permission_removed.length) parts.push(`${permission_removed.length} removed`);
  return parts.join(", ");
}

/** Active members first, then by address. */
export function ordered(rows: readonly UserRow[]): UserRow[] {
  const rank = ({ disabled_at }: UserRow) => (disabled_at ? 1 : 0);
  return [...rows].sort((a, b) => rank(a) - rank(b) || a.email.localeCompare(b.email));
}
