/** Small outlines for the unit tests. */
import { emptyOutline, merge, type OutlineAnswer } from "./outline";
import { buildSession, type Session } from "./session";
import { structureOf } from "./structure";

export interface Given {
  id?: number;
  /** Milliseconds since the start. */
  t: number;
  type: string;
  agent?: string;
  name?: string;
  pair?: number;
  duration?: number;
  error?: boolean;
  input?: number;
  output?: number;
  fill?: number;
  cost?: number;
  summary?: string;
}

export const BASE = "2026-11-01T20:43:23.080000Z";

export function answer(
  events: Given[],
  parents: Record<string, string> = {},
  page: Partial<OutlineAnswer> = {},
): OutlineAnswer {
  const words = (of: (event: Given) => string | undefined) => [
    ...new Set(events.map(of).filter((word) => word !== undefined)),
  ];
  const types = words((event) => event.type);
  const names = words((event) => event.name);
  const ids = [
    ...new Set([...events.map((event) => event.agent ?? "main"), ...Object.keys(parents), ...Object.values(parents)]),
  ];
  return {
    session_id: "s",
    total: events.length,
    offset: 0,
    base_ts: BASE,
    types,
    names,
    watermark: "w",
    prev_cursor: null,
    next_cursor: null,
    agents: ids.map((id) => ({
      agent_id: id,
      parent: id in parents ? ids.indexOf(parents[id]!) : null,
      event_count: events.filter((event) => (event.agent ?? "main") === id).length,
    })),
    columns: {
      id: events.map((event, index) => event.id ?? index),
      t: events.map((event) => event.t * 1000),
      type: events.map((event) => types.indexOf(event.type)),
      agent: events.map((event) => ids.indexOf(event.agent ?? "main")),
      name: events.map((event) => (event.name === undefined ? -1 : names.indexOf(event.name))),
      pair: events.map((event) => event.pair ?? 0),
      duration_ms: events.map((event) => event.duration ?? null),
      error: events.map((event) => (event.error ? 1 : 0)),
      input_tokens: events.map((event) => event.input ?? null),
      output_tokens: events.map((event) => event.output ?? null),
      context_fill: events.map((event) => event.fill ?? null),
      cost_usd: events.map((event) => event.cost ?? null),
      summary: events.map((event) => event.summary ?? ""),
    },
    ...page,
  };
}

export function session(events: Given[], parents: Record<string, string> = {}): Session {
  const outline = merge(emptyOutline(), answer(events, parents), "first", new Set());
  return buildSession(outline, structureOf(outline));
}

/** Numbers between 0 and 1 that are the same in every run. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
