// Works out the cells and figures of the list of sessions. Pure functions.

import type { Query } from "../api/request";
import type { EvaluationJob, Session } from "../api/types";
import { own } from "../kit/own";
import { among, literal, where, within } from "../kit/sql";
import { splitValues } from "../kit/url";

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

const NEWEST_RESULT =
  "SELECT session_id, argMax(status, (completed_at, id)) AS newest_status, argMax(scores, (completed_at, id)) AS newest_scores FROM evaluations GROUP BY session_id";

/** Conditions of SQL on `agent_sessions` that choose what `GET /sessions` chooses. */
export function conditions(query: Query): string[] {
  const values = (name: string) => splitValues(query[name] as string | undefined);
  const found = [...among("session_id", values("session_id")), ...among("environment", values("environment"))];
  const agents = values("agent_id");
  if (agents.length) found.push(`session_id IN (SELECT session_id FROM events WHERE ${among("agent_id", agents)[0]})`);
  found.push(...within("last_event_at", query["ts_from"], query["ts_to"]));
  const scored = values("score_filters").map((filter) => {
    const [, key = "", min, max] = /^(.*):([^:]*?)\.\.([^:]*)$/.exec(filter) ?? [];
    const score = `newest_scores[${literal(key)}]`;
    return [
      `mapContains(newest_scores, ${literal(key)})`,
      min && `${score} >= ${Number(min)}`,
      max && `${score} <= ${Number(max)}`,
    ]
      .filter(Boolean)
      .join(" AND ");
  });
  if (scored.length)
    found.push(`session_id IN (SELECT session_id FROM (${NEWEST_RESULT}) WHERE ${scored.join(" AND ")})`);
  const statuses = values("status");
  const known = statuses.filter((status) => status !== "none");
  const either = [
    ...(known.length
      ? [`session_id IN (SELECT session_id FROM (${NEWEST_RESULT}) WHERE ${among("newest_status", known)[0]})`]
      : []),
    ...(statuses.includes("none") ? ["session_id NOT IN (SELECT session_id FROM evaluations)"] : []),
  ];
  if (either.length) found.push(either.length > 1 ? `(${either.join(" OR ")})` : either[0]!);
  return found;
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

/** A statement that lists the same sessions. */
export function listSql(query: Query): string {
  const order = query["order"] === "asc" ? "ASC" : "DESC";
  const sort = (query["sort"] as string | null | undefined) ?? LAST_EVENT;
  const key = sort.startsWith(SCORE) ? literal(sort.slice(SCORE.length)) : null;
  const value = key
    ? `if(mapContains(newest_scores, ${key}), newest_scores[${key}], NULL)`
    : sort === "duration"
      ? "dateDiff('microsecond', started_at, last_event_at)"
      : sort;
  const ties = sort === LAST_EVENT ? `session_id ${order}` : "last_event_at DESC, session_id";
  return `SELECT session_id, agent_id, environment, started_at, last_event_at, ended_at,
       event_count, error_count, input_tokens + output_tokens AS tokens
FROM agent_sessions${key ? ` LEFT JOIN (${NEWEST_RESULT}) AS results USING (session_id)` : ""}${where(conditions(query))}
ORDER BY ${value} ${order}${key ? " NULLS LAST" : ""}, ${ties}
LIMIT 1000`;
}
