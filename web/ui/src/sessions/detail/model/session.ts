/** The views share this: the outline with its pairs, rows and axis, made again whenever events arrive. */
import { type Axis, buildAxis } from "./axis";
import { FAMILY, isClose, isWork } from "./families";
import type { Outline } from "./outline";
import type { Structure } from "./structure";

export interface Session extends Structure {
  readonly outline: Outline;
  /** Microseconds since 1970. */
  readonly begin: number;
  readonly last: number;
}

/** A session with the axis that belongs to it. */
export interface Scene {
  session: Session;
  axis: Axis;
  /** As in `spanOf`. */
  now: number;
}

export function buildSession(outline: Outline, structure: Structure): Session {
  return {
    outline,
    ...structure,
    begin: outline.length ? outline.ts[0]! : 0,
    last: outline.length ? outline.ts[outline.length - 1]! : 0,
  };
}

/** When the session ended: the last agent_end of the agent that started first; null while it has none. */
export function endOf({ outline, codes, rows }: Session): number | null {
  if (rows.length === 0) return null;
  let root = outline.agent[0]!;
  for (let event = 0; event < outline.length; event++) {
    if (codes[event] === FAMILY.agent * 2) {
      root = outline.agent[event]!;
      break;
    }
  }
  for (let event = outline.length - 1; event >= 0; event--) {
    if (codes[event] === FAMILY.agent * 2 + 1 && outline.agent[event] === root) return outline.ts[event]!;
  }
  return null;
}

/** Milliseconds since the first event. */
export function msOf(session: Session, event: number): number {
  return (session.outline.ts[event]! - session.begin) / 1000;
}

/** Whether the row waits for its end: it has a start that nothing closed. */
export function isOpen(session: Session, row: number): boolean {
  const { rows, codes } = session;
  const start = rows.start[row]!;
  return start >= 0 && rows.end[row] === -1 && codes[start] !== 0 && !isClose(codes[start]!);
}

export interface Span {
  from: number;
  to: number;
  open: boolean;
}

/**
 * The time that a row covers, in milliseconds since the first event.
 *
 * @param now the end of what has no end: the present in a running session, else the last event
 */
export function spanOf(session: Session, row: number, now: number): Span {
  const { rows, outline, pairs } = session;
  const start = rows.start[row]!;
  const end = rows.end[row]!;
  if (rows.isAgent[row] && (start < 0 || end < 0)) return agentSpan(session, row, now);
  if (start < 0) return { from: 0, to: 0, open: false };
  const from = msOf(session, start);
  if (end >= 0) {
    const latency = pairs.latencyMs[end]!;
    const close = msOf(session, end);
    // The duration that the end carries is the truth of it; the bar ends when the end arrived.
    return { from: Math.min(from, close), to: Math.max(close, Math.min(from, close) + latency), open: false };
  }
  if (isOpen(session, row)) return { from, to: Math.max(now, from), open: true };
  const own = outline.durationMs[start]!;
  // An end without its start began as long before as it says.
  return Number.isNaN(own) ? { from, to: from, open: false } : { from: Math.max(0, from - own), to: from, open: false };
}

function agentSpan(session: Session, row: number, now: number): Span {
  const { rows } = session;
  let from = Infinity;
  let to = 0;
  const include = (event: number) => {
    if (event < 0) return;
    from = Math.min(from, msOf(session, event));
    to = Math.max(to, msOf(session, event));
  };
  include(rows.start[row]!);
  include(rows.end[row]!);
  for (let inner = row + 1; inner < rows.last[row]!; inner++) {
    include(rows.start[inner]!);
    include(rows.end[inner]!);
  }
  const open = isOpen(session, row);
  return { from: from === Infinity ? 0 : from, to: open ? Math.max(now, to) : to, open };
}

/** The row's duration in milliseconds; null for moments. */
export function durationOf(session: Session, row: number, now: number): number | null {
  const { rows, pairs, outline } = session;
  const end = rows.end[row]!;
  const start = rows.start[row]!;
  if (start >= 0 && end >= 0) return pairs.latencyMs[end]!;
  if (rows.isAgent[row] || isOpen(session, row)) {
    const span = spanOf(session, row, now);
    return span.to - span.from;
  }
  const own = start >= 0 ? outline.durationMs[start]! : NaN;
  return Number.isNaN(own) ? null : own;
}

/** Whether one of the row's events failed. */
export function isFailed(session: Session, row: number): boolean {
  const { rows, outline } = session;
  const start = rows.start[row]!;
  const end = rows.end[row]!;
  return (start >= 0 && outline.error[start] === 1) || (end >= 0 && outline.error[end] === 1);
}

/** Calls that wait for their end, agents not counted. */
export function openCalls(session: Session): number[] {
  const open: number[] = [];
  for (let row = 0; row < session.rows.length; row++) {
    if (!session.rows.isAgent[row] && isOpen(session, row)) open.push(row);
  }
  return open;
}

/**
 * The axis over the whole session. Answers of people and pauses are gaps when they take long; work never is.
 *
 * @param now as in `spanOf`
 * @param running whether open calls are still at work
 */
export function axisOf(session: Session, now: number, running: boolean, folding: boolean): Axis {
  const { outline, pairs, codes } = session;
  const starts = new Float64Array(outline.length);
  const ends = new Float64Array(outline.length);
  let end = Math.max(1, now);
  for (let event = 0; event < outline.length; event++) {
    const at = msOf(session, event);
    starts[event] = at;
    ends[event] = at;
    const code = codes[event]!;
    if (isWork(code) && !isClose(code)) {
      const partner = pairs.partner[event]!;
      if (partner >= 0) ends[event] = Math.max(at, msOf(session, partner));
      else if (running) ends[event] = now;
    }
    end = Math.max(end, ends[event]!);
  }
  return buildAxis(starts, ends, end, folding);
}
