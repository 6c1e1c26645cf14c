/** The filters of the session page, and the events that pass them. */
import type { Outline } from "./outline";
import type { Rows } from "./tree";

export interface Filters {
  types: string[];
  agents: string[];
  names: string[];
  errored: boolean;
  /** The visible time in milliseconds since the first event, or null for all of it. */
  window: { from: number; to: number } | null;
}

export const NO_FILTERS: Filters = { types: [], agents: [], names: [], errored: false, window: null };

export function isFiltered(filters: Filters): boolean {
  const { types, agents, names, errored, window } = filters;
  return types.length + agents.length + names.length > 0 || errored || window !== null;
}

/** Which places of a list are chosen; null where nothing is, so that all are. */
function chosen(words: readonly string[], values: string[]): Uint8Array | null {
  if (values.length === 0) return null;
  const wanted = new Set(values);
  return Uint8Array.from(words, (word) => (wanted.has(word) ? 1 : 0));
}

/** 1 for each event that passes the filters but for the window. */
export function passing(outline: Outline, filters: Filters): Uint8Array {
  const types = chosen(outline.types, filters.types);
  const agents = chosen(
    outline.agents.map((agent) => agent.agent_id),
    filters.agents,
  );
  const names = chosen(outline.names, filters.names);
  const out = new Uint8Array(outline.length);
  for (let i = 0; i < outline.length; i++) {
    if (types && !types[outline.type[i]!]) continue;
    if (agents && !agents[outline.agent[i]!]) continue;
    if (names && (outline.name[i]! < 0 || !names[outline.name[i]!])) continue;
    if (filters.errored && !outline.error[i]) continue;
    out[i] = 1;
  }
  return out;
}

/** 1 for each row one of whose events passes. */
export function rowsWith(rows: Rows, events: Uint8Array): Uint8Array {
  const out = new Uint8Array(rows.length);
  for (let row = 0; row < rows.length; row++) {
    const start = rows.start[row]!;
    const end = rows.end[row]!;
    if ((start >= 0 && events[start]) || (end >= 0 && events[end])) out[row] = 1;
  }
  return out;
}

export function countOnes(bits: Uint8Array): number {
  let count = 0;
  for (const bit of bits) count += bit;
  return count;
}
