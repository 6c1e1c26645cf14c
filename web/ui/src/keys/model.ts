import type { KeyRow } from "../api/types";
import { FOR_KEYS, type KeyPermission } from "../kit/form/permission-names";
import { spanOf } from "../kit/time/spans";
import { parseInput } from "../kit/time/time";

/** The permissions of a new key, by the name of its preset. */
export const PRESETS: Readonly<Record<string, readonly KeyPermission[]>> = {
  Collector: ["events:add"],
  "Read-only": FOR_KEYS.filter((token) => token.endsWith(":read")),
};

export type KeyState = "active" | "disabled" | "expired";

export function stateOf({ revoked_at, expires_at }: KeyRow, now: Date): KeyState {
  if (revoked_at) return "disabled";
  return expires_at && Date.parse(expires_at) <= now.getTime() ? "expired" : "active";
}

/** Live keys first, then by name. */
export function ordered(rows: readonly KeyRow[], now: Date): KeyRow[] {
  const rank = (row: KeyRow) => (stateOf(row, now) === "active" ? 0 : 1);
  return [...rows].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

/**
 * The moment at which a new key expires: a date and time in the zone, or a span from now such as "90 d"; null for
 * never.
 */
export function expiryOf(text: string, zone: string, now: Date): string | null {
  if (!text.trim()) return null;
  const seconds = /[a-z]\s*$/i.test(text) ? spanOf(text) : null;
  const moment = seconds === null ? parseInput(text, zone) : new Date(now.getTime() + seconds * 1000);
  // The server refuses any other text by the field's name.
  return moment?.toISOString() ?? text;
}

/** The preset with exactly these permissions. */
export function presetOf(permissions: readonly string[]): string | null {
  const same = (tokens: readonly string[]) =>
    tokens.length === permissions.length && tokens.every((token) => permissions.includes(token));
  return Object.keys(PRESETS).find((name) => same(PRESETS[name]!)) ?? null;
}
