import { type Options, type Query, request } from "../api/request";
import type { EvaluationJob, Session } from "../api/types";
import type { PageOf } from "../kit/data/load";
import { joinValues } from "../kit/url";

export const PAGE_ROWS = 50;

export async function listSessions(query: Query, options: Options): Promise<PageOf<Session>> {
  const { sessions, next_cursor } = await request("GET /sessions", { query: { ...query, limit: PAGE_ROWS } }, options);
  return { rows: sessions, next: next_cursor };
}

// Ids that surely fit into a URL together.
const MOST_IDS = 20;

/** The evaluations of these sessions that are under way, by session. */
export async function jobsBySession(ids: readonly string[], options: Options): Promise<Map<string, EvaluationJob>> {
  const chunks = Array.from({ length: Math.ceil(ids.length / MOST_IDS) }, (_, index) =>
    ids.slice(index * MOST_IDS, (index + 1) * MOST_IDS),
  );
  const answers = await Promise.all(
    chunks.map((some) =>
      request("GET /evaluation-jobs", { query: { session_id: joinValues(some), limit: MOST_IDS } }, options),
    ),
  );
  return new Map(answers.flatMap(({ jobs }) => jobs).map((job) => [job.session_id, job]));
}

export function readScoreKeys(): Promise<string[]> {
  return request("GET /evaluations/score_keys", {});
}
