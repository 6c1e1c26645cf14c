import { type Options, type Query, request } from "../api/request";
import type { Evaluation, JobList, Requested } from "../api/types";
import type { PageOf } from "../kit/data/load";

export const BINS = 20;
// So many that they name the agents and environments of a rare score.
const MOST_LOWEST = 200;
const PAGE_ROWS = 50;
export const MOST_JOBS = 200;

/** The results with the lowest values of a score. */
export async function readLowest(query: Query, key: string, options: Options): Promise<Evaluation[]> {
  return (await request("GET /evaluations", { query: { ...query, lowest: key, limit: MOST_LOWEST } }, options))
    .evaluations;
}

/** The results that match, newest first. */
export async function listResults(query: Query, options: Options): Promise<PageOf<Evaluation>> {
  const { evaluations, next_cursor } = await request(
    "GET /evaluations",
    { query: { ...query, limit: PAGE_ROWS } as object },
    options,
  );
  return { rows: evaluations, next: next_cursor };
}

export function readJobs(options: Options): Promise<JobList> {
  return request("GET /evaluation-jobs", { query: { limit: MOST_JOBS, health: true } }, options);
}

/** Evaluates the sessions again whose newest result matches, or only counts them. */
export function evaluateAgain(query: Query, dryRun: boolean): Promise<Requested> {
  const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== null));
  return request("POST /evaluations/re-evaluate", { body: { ...given, dry_run: dryRun } as object });
}

/** The choices of the filters, and the scores that there are. */
export const facets = {
  environments: (options?: Options) => request("GET /evaluations/environments", {}, options),
  agents: (options?: Options) => request("GET /events/agent_ids", {}, options),
  scoreKeys: (options?: Options) => request("GET /evaluations/score_keys", {}, options),
};
