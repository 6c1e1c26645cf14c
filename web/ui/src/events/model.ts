// The list of events and its live rows. Pure functions.
import type { EventSummary } from "../api/types";

/** The outcome of reading the first page again, beside the rows that are known. */
export interface Arrival {
  /** Rows of the page that are not known yet, newest first. */
  fresh: EventSummary[];
  /** Whether rows may lie between the page and what is known, because more came than a page holds. */
  gap: boolean;
}

export function arrived(rows: readonly EventSummary[], first: readonly EventSummary[]): Arrival {
  const known = new Set(rows.map(({ id }) => id));
  const fresh = first.filter(({ id }) => !known.has(id));
  return { fresh, gap: rows.length > 0 && first.length > 0 && fresh.length === first.length };
}

/** Known rows with new ones, newest first. An event may arrive after younger ones. */
export function mergedEvents(rows: readonly EventSummary[], fresh: readonly EventSummary[]): EventSummary[] {
  if (!fresh.length) return [...rows];
  const oldest = Date.parse(fresh[fresh.length - 1]!.ts);
  const end = rows.findIndex(({ ts }) => Date.parse(ts) < oldest);
  const near = rows.slice(0, end < 0 ? rows.length : end);
  const mixed = [...fresh, ...near].sort((one, other) => (one.ts < other.ts ? 1 : one.ts > other.ts ? -1 : 0));
  return [...mixed, ...(end < 0 ? [] : rows.slice(end))];
}
