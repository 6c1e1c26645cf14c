// Works out the cells and figures of the list of sessions. Pure functions.

import type { EvaluationJob, Session } from "../api/types";
import { own } from "../kit/data/own";

/** The standard order. */
export const LAST_EVENT = "last_event_at";
export const RUNNING_MS = 5 * 60_000;

export type State = "Running" | "Idle" | "Ended";

export function stateOf(session: Pick<Session, "ended_at" | "last_event_at">, now: number): State {
  if (session.ended_at !== null) return "Ended";
  return now - Date.parse(session.last_event_at) < RUNNING_MS ? "Running" : "Idle";
}

export interface Outcome {
  kind: "failed" | "success" | "other";
  /** As it was sent, where it was. */
  text: string;
}

/** How the root agent ended; null while it has not, or did not say. */
export function outcomeOf({
  ended_at,
  outcome,
  failed,
}: Pick<Session, "ended_at" | "outcome" | "failed">): Outcome | null {
  if (ended_at === null) return null;
  if (failed) return { kind: "failed", text: outcome ?? "" };
  return outcome ? { kind: outcome === "success" ? "success" : "other", text: outcome } : null;
}

/** An outcome in words. A failure is called one, whatever else was sent. */
export function outcomeWords({ kind, text }: Outcome): string {
  if (kind === "success") return "Success";
  if (kind === "other") return text;
  return ["", "failed", "success"].includes(text) ? "Failed" : `Failed: ${text}`;
}

/** Milliseconds from the first event to the last one. */
export function lasted(session: Pick<Session, "started_at" | "last_event_at">): number {
  return Date.parse(session.last_event_at) - Date.parse(session.started_at);
}

/** The score of a key, or a word for why there is none. */
export function scoreOf(
  session: Session,
  key: string | null,
  job: EvaluationJob | undefined,
  now: number,
): number | string {
  const result = session.latest_evaluation;
  const score = key === null ? undefined : own(result?.scores, key);
  if (score !== undefined) return score;
  if (result && result.status !== "done") return result.status;
  if (result) return "–";
  const state = stateOf(session, now);
  if (job) return `${state === "Idle" ? "idle, " : ""}${job.status === "polling" ? "polling" : "queued"}`;
  return state === "Ended" ? "waiting" : "not ended";
}

/**
 * The rows after page 1 was read again. What is known stays; what is new comes to the front, or,
 * while `held`, waits, so that nothing moves under a pointer.
 * @returns the rows, and how many sessions wait
 */
export function merged(
  rows: readonly Session[],
  first: readonly Session[],
  held: boolean,
): { rows: Session[]; waiting: number } {
  const fresh = new Map(first.map((row) => [row.session_id, row]));
  if (held) {
    const known = new Set(rows.map(({ session_id }) => session_id));
    const waiting = first.filter(({ session_id }) => !known.has(session_id)).length;
    return { rows: rows.map((row) => fresh.get(row.session_id) ?? row), waiting };
  }
  const rest = rows.filter(({ session_id }) => !fresh.has(session_id));
  return { rows: [...first, ...rest], waiting: 0 };
}

const SCORE = "score:";

/** The name of the order by a score. */
export function scoreSort(key: string): string {
  return SCORE + key;
}

/** The parameters of an order; those of the standard one are left out. */
export function sortQuery(sort: string, descending: boolean): Record<"sort" | "order", string | null> {
  return { sort: sort === LAST_EVENT ? null : sort, order: descending ? null : "asc" };
}
