// Works out the cells and figures of the list of sessions. Pure functions.
import type { EvaluationJob, QueryResult, Session } from "../api/types";
import type { Query } from "../api/request";
import { among, literal, where, within } from "../kit/sql";
import { splitValues } from "../kit/url";
import { own } from "../kit/own";

export const RUNNING_MS = 5 * 60_000;

export type State = "Running" | "Idle" | "Ended";

export function stateOf(session: Pick<Session, "ended_at" | "last_event_at">, now: number): State {
  if (session.ended_at !== null) return "Ended";
  return now - Date.parse(session.last_event_at) < RUNNING_MS ? "Running" : "Idle";
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
export function merged(rows: readonly Session[], first: readonly Session[], held: boolean): { rows: Session[]; waiting: number } {
  const fresh = new Map(first.map((row) => [row.session_id, row]));
  if (held) {
    const known = new Set(rows.map(({ session_id }) => session_id));
    const waiting = first.filter(({ session_id }) => !known.has(session_id)).length;
    return { rows: rows.map((row) => fresh.get(row.session_id) ?? row), waiting };
  }
  const rest = rows.filter(({ session_id }) => !fresh.has(session_id));
  return { rows: [...first, ...rest], waiting: 0 };
}

/** Conditions of SQL on `agent_sessions` that choose what `GET /sessions` chooses. */
export function conditions(query: Query): string[] {
  const values = (name: string) => splitValues(query[name] as string | undefined);
  const found = [...among("session_id", values("session_id")), ...among("environment", values("environment"))];
  const agents = values("agent_id");
  if (agents.length) found.push(`session_id IN (SELECT session_id FROM events WHERE ${among("agent_id", agents)[0]})`);
  found.push(...within("last_event_at", query["ts_from"], query["ts_to"]));
  const newest = "SELECT session_id, argMax(status, (completed_at, id)) AS newest_status, argMax(scores, (completed_at, id)) AS newest_scores FROM evaluations GROUP BY session_id";
  const scored = values("score_filters").map((filter) => {
    const [, key = "", min, max] = /^(.*):([^:]*?)\.\.([^:]*)$/.exec(filter) ?? [];
    const score = `newest_scores[${literal(key)}]`;
    return [`mapContains(newest_scores, ${literal(key)})`, min && `${score} >= ${Number(min)}`, max && `${score} <= ${Number(max)}`].filter(Boolean).join(" AND ");
  });
  if (scored.length) found.push(`session_id IN (SELECT session_id FROM (${newest}) WHERE ${scored.join(" AND ")})`);
  const statuses = values("status");
  const known = statuses.filter((status) => status !== "none");
  const either = [
    ...(known.length ? [`session_id IN (SELECT session_id FROM (${newest}) WHERE ${among("newest_status", known)[0]})`] : []),
    ...(statuses.includes("none") ? ["session_id NOT IN (SELECT session_id FROM evaluations)"] : []),
  ];
  if (either.length) found.push(either.length > 1 ? `(${either.join(" OR ")})` : either[0]!);
  return found;
}

/** A statement that lists the same sessions. */
export function listSql(query: Query): string {
  const order = query["order"] === "asc" ? "ASC" : "DESC";
  return `SELECT session_id, agent_id, environment, started_at, last_event_at, ended_at,
       event_count, error_count, input_tokens + output_tokens AS tokens
FROM agent_sessions${where(conditions(query))}
ORDER BY last_event_at ${order}, session_id ${order}
LIMIT 1000`;
}

/** A statement for the figures: sums by intervals of that many minutes. */
export function figuresSql(query: Query, minutes: number): string {
  return `SELECT toStartOfInterval(last_event_at, INTERVAL ${minutes} MINUTE) AS at, count() AS sessions,
       sum(event_count) AS events, sum(error_count) AS failed, sum(input_tokens + output_tokens) AS tokens
FROM agent_sessions${where(conditions(query))}
GROUP BY at ORDER BY at`;
}

/** An interval for `figuresSql` that makes a few dozen rows of a range of so many milliseconds. */
export function intervalMinutes(span: number | null): number {
  const minutes = [1, 5, 30, 60, 180, 1440];
  return span === null ? 120 : (minutes.find((one) => span / (one * 60_000) <= 90) ?? 4320);
}

export interface Totals {
  sessions: number;
  events: number;
  failed: number;
  tokens: number;
  /** The same by interval, oldest first, with zeros between. */
  over: { sessions: number[]; failed: number[]; tokens: number[] };
}

/** Sums up the answer to `figuresSql`. */
export function totalsOf(result: Pick<QueryResult, "rows">, minutes: number): Totals {
  const rows = result.rows as [string, number, number, number, number][];
  const sum = (column: 1 | 2 | 3 | 4) => rows.reduce((total, row) => total + Number(row[column]), 0);
  const step = minutes * 60_000;
  const start = rows.length ? Date.parse(rows[0]![0]) : 0;
  const slots = rows.length ? Math.round((Date.parse(rows[rows.length - 1]![0]) - start) / step) + 1 : 0;
  const series = (column: 1 | 3 | 4) => {
    const values = new Array<number>(Math.min(slots, 400)).fill(0);
    for (const row of rows) {
      const slot = Math.floor(((Date.parse(row[0]) - start) / step) * (values.length / slots));
      values[slot] = (values[slot] ?? 0) + Number(row[column]);
    }
    return values;
  };
  return { sessions: sum(1), events: sum(2), failed: sum(3), tokens: sum(4), over: { sessions: series(1), failed: series(3), tokens: series(4) } };
}
