/**
 * The events of one session, held as columns.
 *
 * Pages arrive in any order: the one around a deep link first, then those before and after it, then what arrived since.
 * Every merge returns a new outline, so that views can compare by identity. Moments are microseconds since 1970; they
 * fit into the 53 bits of a number until the year 2255.
 */

import type { OutlineAgent } from "../../../api/types";

/** The body of `GET /sessions/{id}/outline`. */
export interface OutlineAnswer {
  session_id: string;
  total: number;
  offset: number;
  base_ts: string | null;
  agents: OutlineAgent[];
  types: string[];
  names: string[];
  columns: {
    id: number[];
    t: number[];
    type: number[];
    agent: number[];
    name: number[];
    pair: number[];
    duration_ms: (number | null)[];
    error: number[];
    input_tokens: (number | null)[];
    output_tokens: (number | null)[];
    context_fill: (number | null)[];
    /** A process of an earlier release sends none. */
    cost_usd?: (number | null)[];
    summary: string[];
  };
  prev_cursor: string | null;
  next_cursor: string | null;
  watermark: string;
}

/** Where a page belongs: the first one, the events before or after those known, or what arrived since. */
export type Place = "first" | "before" | "after" | "since";

export interface Outline {
  readonly length: number;
  readonly id: Float64Array;
  /** Microseconds since 1970. */
  readonly ts: Float64Array;
  readonly type: Int32Array;
  readonly agent: Int32Array;
  /** An index into `names`, or -1. */
  readonly name: Int32Array;
  /** The hash of the key of the pair; 0 without one. */
  readonly pair: Float64Array;
  /** Milliseconds; NaN when unknown, as in the next four. */
  readonly durationMs: Float64Array;
  readonly inputTokens: Float64Array;
  readonly outputTokens: Float64Array;
  readonly contextFill: Float64Array;
  /** What the call cost. */
  readonly costUsd: Float64Array;
  readonly error: Uint8Array;
  readonly summary: string[];
  readonly types: string[];
  readonly names: string[];
  readonly agents: OutlineAgent[];
  /** The numbers of stored events before the first and after the last one here. */
  readonly before: number;
  readonly after: number;
}

const VALUES = ["durationMs", "inputTokens", "outputTokens", "contextFill", "costUsd"] as const;
const NUMBER_COLUMNS = ["id", "ts", "pair", ...VALUES] as const;
const INDEX_COLUMNS = ["type", "agent", "name"] as const;

export function emptyOutline(): Outline {
  return { ...allocate(0), summary: [], types: [], names: [], agents: [], before: 0, after: 0 };
}

function allocate(length: number) {
  return {
    length,
    id: new Float64Array(length),
    ts: new Float64Array(length),
    pair: new Float64Array(length),
    durationMs: new Float64Array(length),
    inputTokens: new Float64Array(length),
    outputTokens: new Float64Array(length),
    contextFill: new Float64Array(length),
    costUsd: new Float64Array(length),
    type: new Int32Array(length),
    agent: new Int32Array(length),
    name: new Int32Array(length),
    error: new Uint8Array(length),
  };
}

/** Adds the words to the list that it lacks, and returns the place of each. */
function intern(list: string[], words: string[]): Int32Array {
  const places = new Map(list.map((word, place) => [word, place]));
  return Int32Array.from(words, (word) => {
    let place = places.get(word);
    if (place === undefined) {
      place = list.push(word) - 1;
      places.set(word, place);
    }
    return place;
  });
}

const numbers = (values: (number | null)[]) => Float64Array.from(values, (value) => value ?? NaN);
const mapped = (values: number[], places: Int32Array) =>
  Int32Array.from(values, (value) => (value < 0 ? -1 : places[value]!));

/** One answer in the form of an outline whose lists continue those of `known`. */
function decode(answer: OutlineAnswer, known: Outline): Outline {
  const { columns } = answer;
  const types = [...known.types];
  const names = [...known.names];
  const agentIds = known.agents.map((agent) => agent.agent_id);
  const typePlaces = intern(types, answer.types);
  const namePlaces = intern(names, answer.names);
  const agentPlaces = intern(
    agentIds,
    answer.agents.map((agent) => agent.agent_id),
  );
  const agents = [...known.agents];
  answer.agents.forEach((agent, place) => {
    const parent = agent.parent === null ? null : agentPlaces[agent.parent]!;
    agents[agentPlaces[place]!] = { ...agent, parent };
  });
  const base = answer.base_ts === null ? 0 : microseconds(answer.base_ts);
  return {
    length: columns.id.length,
    id: Float64Array.from(columns.id),
    ts: Float64Array.from(columns.t, (t) => base + t),
    type: mapped(columns.type, typePlaces),
    agent: mapped(columns.agent, agentPlaces),
    name: mapped(columns.name, namePlaces),
    pair: Float64Array.from(columns.pair),
    durationMs: numbers(columns.duration_ms),
    inputTokens: numbers(columns.input_tokens),
    outputTokens: numbers(columns.output_tokens),
    contextFill: numbers(columns.context_fill),
    costUsd: columns.cost_usd ? numbers(columns.cost_usd) : new Float64Array(columns.id.length).fill(NaN),
    error: Uint8Array.from(columns.error),
    summary: columns.summary,
    types,
    names,
    agents,
    before: 0,
    after: 0,
  };
}

/** Microseconds since 1970 of an RFC 3339 time in UTC; Date alone would drop the microseconds. */
export function microseconds(text: string): number {
  const [, whole, fraction = ""] = /^(.*?)(?:\.(\d+))?(?:Z|\+00:00)$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`not a time in UTC: ${text}`);
  return Date.parse(`${whole}Z`) * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6));
}

/**
 * Puts a page into its place among the events that are known.
 *
 * Events of one moment stay in the order of the server: those of an earlier page before, those that arrived later after
 * the known ones. `ids` holds every id that was merged so far, and grows; an event that is in it already is dropped.
 */
export function merge(known: Outline, answer: OutlineAnswer, place: Place, ids: Set<number>): Outline {
  const page = decode(answer, known);
  const fresh = selectNew(page, ids);
  const end = answer.offset + page.length;
  const before = place === "first" || place === "before" ? answer.offset : known.before;
  const after = place === "first" || place === "after" ? Math.max(0, answer.total - end) : known.after;
  const rest = {
    types: page.types,
    names: page.names,
    agents: page.agents,
    before: place === "before" && answer.prev_cursor === null ? 0 : before,
    after: place === "after" && answer.next_cursor === null ? 0 : after,
  };
  if (fresh.length === 0) return { ...known, ...rest };
  if (fresh.length === page.length) {
    if (follows(known, page)) return { ...joined(known, page), ...rest };
    if (place === "before" && follows(page, known)) return { ...joined(page, known), ...rest };
  }
  return { ...interleave(known, page, fresh, place === "before"), ...rest };
}

function selectNew(page: Outline, ids: Set<number>): number[] {
  const fresh: number[] = [];
  page.id.forEach((id, index) => {
    if (ids.has(id)) return;
    ids.add(id);
    fresh.push(index);
  });
  return fresh;
}

/** Whether all of a run comes after all of another one. */
function follows(one: Outline, other: Outline): boolean {
  return one.length === 0 || one.ts[one.length - 1]! <= other.ts[0]!;
}

/** Pages nearly always follow on, and then whole columns are copied. */
function joined(one: Outline, other: Outline) {
  const out = allocate(one.length + other.length);
  for (const column of [...NUMBER_COLUMNS, ...INDEX_COLUMNS, "error"] as const) {
    out[column].set(one[column]);
    out[column].set(other[column], one.length);
  }
  return { ...out, summary: [...one.summary, ...other.summary] };
}

/** Merges two sorted runs; on equal moments the page goes first or last as told. */
function interleave(known: Outline, page: Outline, fresh: number[], pageFirst: boolean) {
  const length = known.length + fresh.length;
  // Where each event comes from: an index of `known`, or the complement of one of `page`.
  const source = new Int32Array(length);
  let left = 0;
  let right = 0;
  for (let at = 0; at < length; at++) {
    const next = fresh[right];
    const fromKnown =
      next === undefined ||
      (left < known.length && (pageFirst ? known.ts[left]! < page.ts[next]! : known.ts[left]! <= page.ts[next]!));
    source[at] = fromKnown ? left++ : ~fresh[right++]!;
  }
  const out = allocate(length);
  for (const column of NUMBER_COLUMNS) gather(source, known[column], page[column], out[column]);
  for (const column of INDEX_COLUMNS) gather(source, known[column], page[column], out[column]);
  gather(source, known.error, page.error, out.error);
  const summary = Array.from(source, (from) => (from >= 0 ? known.summary[from]! : page.summary[~from]!));
  return { ...out, summary };
}

type Numbers = Float64Array | Int32Array | Uint8Array;

// Column by column: a loop over one type of array is ten times as fast as one over all columns of a row.
function gather(source: Int32Array, known: Numbers, page: Numbers, out: Numbers): void {
  for (let at = 0; at < source.length; at++) {
    const from = source[at]!;
    out[at] = from >= 0 ? known[from]! : page[~from]!;
  }
}

/** The place of an event, or -1. */
export function indexOfEvent(outline: Outline, id: string | null | undefined): number {
  return id ? outline.id.indexOf(Number(id)) : -1;
}
