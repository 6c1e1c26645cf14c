import { request, type Options, type Query } from "../api/request";
import type { Evaluation, EvaluationAggregate, EvaluationJob } from "../api/types";

export const BINS = 20;
const MOST_LOWEST = 50;
export const MOST_JOBS = 200;

export function readAggregate(query: Query, options: Options): Promise<EvaluationAggregate> {
  return request("GET /evaluations/aggregate", { query: query as object }, options);
}

/** The results with the lowest values of a score. */
export async function readLowest(query: Query, key: string, options: Options): Promise<Evaluation[]> {
  return (await request("GET /evaluations", { query: { ...query, lowest: key, limit: MOST_LOWEST } }, options)).evaluations;
}

export async function readJobs(options: Options): Promise<EvaluationJob[]> {
  return (await request("GET /evaluation-jobs", { query: { limit: MOST_JOBS } }, options)).jobs;
}

/** The choices of the filters, and the scores that there are. */
export const facets = {
  environments: (options?: Options) => request("GET /evaluations/environments", {}, options),
  agents: (options?: Options) => request("GET /events/agent_ids", {}, options),
  scoreKeys: (options?: Options) => request("GET /evaluations/score_keys", {}, options),
};
