import { request, type Options, type Query } from "../api/request";
import { can } from "../api/session";
import type { EvaluationAggregate, EvaluationJob, QueryResult, Session } from "../api/types";
import type { PageOf } from "../kit/load";

export const PAGE_ROWS = 50;

export async function listSessions(query: Query, options: Options): Promise<PageOf<Session>> {
  const { sessions, next_cursor } = await request("GET /sessions", { query: { ...query, limit: PAGE_ROWS } }, options);
  return { rows: sessions, next: next_cursor };
}

/** The evaluations that are under way, by session. */
export async function jobsBySession(options: Options): Promise<Map<string, EvaluationJob>> {
  const { jobs } = await request("GET /evaluation-jobs", { query: { limit: 200 } }, options);
  return new Map(jobs.map((job) => [job.session_id, job]));
}

export function aggregateScores(query: Query, options: Options): Promise<EvaluationAggregate> {
  return request("GET /evaluations/aggregate", { query: { ...query, latest_per_session: true } }, options);
}

export function runSql(sql: string, options: Options): Promise<QueryResult> {
  return request("POST /queries/run", { body: { sql } }, { ...options, retry: true });
}

/** The choices of the filters. Each list is read when its field is first opened. */
export const facets = {
  environments: () => request("GET /events/environments", {}),
  agents: () => request("GET /events/agent_ids", {}),
  scoreKeys: () => request("GET /evaluations/score_keys", {}),
  /** The models in use, none for those who may not read events. */
  models: () => (can("events:read") ? request("GET /events/models", {}) : Promise.resolve([])),
};
