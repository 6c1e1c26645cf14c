// The other event of a call, from an outline that holds its starts and ends. Pure functions.
import { FAMILIES as TABLE } from "../api/families";
import type { Outline } from "../api/types";

const FAMILIES = TABLE.map(({ start, end }) => [start, end] as const);

export type Family = (typeof FAMILIES)[number];

/** The types that start and end such a call; null for events that stand alone. */
export function familyOf(type: string): Family | null {
  return FAMILIES.find((types) => (types as readonly string[]).includes(type)) ?? null;
}

export interface End {
  id: number;
  type: string;
  /** RFC 3339 */
  ts: string;
  summary: string;
}

export interface Pair {
  start: End;
  end: End;
  /** Milliseconds: those that the end reports, else between the two. */
  latency: number;
}

/** The pair of an event; "open" without the other one, "unclear" where its key does not name one start and one end. */
export function pairOf(
  outline: Pick<Outline, "base_ts" | "types" | "columns">,
  id: number,
  [start, end]: Family,
): Pair | "open" | "unclear" {
  const { columns, types } = outline;
  const key = columns.pair[columns.id.indexOf(id)];
  if (!key) return "unclear";
  const of = (type: string) =>
    columns.id.flatMap((_, at) => (columns.pair[at] === key && types[columns.type[at]!] === type ? [at] : []));
  const [starts, ends] = [of(start), of(end)];
  if (starts.length > 1 || ends.length > 1) return "unclear";
  const [first, last] = [starts[0], ends[0]];
  if (first === undefined || last === undefined) return "open";
  const base = Date.parse(outline.base_ts);
  const at = (index: number): End => ({
    id: columns.id[index]!,
    type: types[columns.type[index]!]!,
    summary: columns.summary[index]!,
    ts: new Date(base + columns.t[index]! / 1000).toISOString(),
  });
  return {
    start: at(first),
    end: at(last),
    latency: columns.duration_ms[last] ?? Math.abs(columns.t[last]! - columns.t[first]!) / 1000,
  };
}
