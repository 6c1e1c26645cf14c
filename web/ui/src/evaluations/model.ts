// Scores over time, and what asks for them. Pure functions.
import type { Query } from "../api/request";
import type {
  Evaluation,
  EvaluationAggregate,
  EvaluatorHealth,
  ScoreSeries,
  ScoreStats,
  TimelinePoint,
} from "../api/types";
import type { Series } from "../kit/charts/time-chart";
import { decimal, exact, plural } from "../kit/text/formats";

/** As many as the API returns. */
const MOST_ASKED = 24;
/** As many as there are colours. */
const MOST_LINES = 8;
const EVERY = ["*"];

/**
 * The series that the chart asks for: the mean of a score for each agent in each environment. Those
 * that are known to have the score come first, because not all can be asked for.
 */
export function seriesOf(
  key: string,
  agents: readonly string[],
  environments: readonly string[],
  known: readonly Pick<Evaluation, "agent_id" | "environment">[] = [],
): [string, string, string, "avg"][] {
  const [rows, columns] = [agents, environments].map((names) => (names.length ? names : EVERY));
  const pairs = [
    ...(rows === EVERY || columns === EVERY ? [] : known.map(({ agent_id, environment }) => [agent_id, environment])),
    ...rows!.flatMap((agent) => columns!.map((environment) => [agent, environment])),
  ];
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()].map(([agent, environment]) => [
    agent!,
    environment!,
    key,
    "avg",
  ]);
}

/** The lines of the chart at these times, those with the most values, and how many are left out. */
export function linesOf(series: readonly ScoreSeries[], times: readonly string[]): { lines: Series[]; others: number } {
  const found = series
    .map(({ agent_id, environment, points }) => {
      const values = new Map(points.map(({ ts, value }) => [ts, value]));
      const name = [agent_id, environment].filter((part) => part !== "*").join(" · ") || "all";
      return { name, values: times.map((ts) => values.get(ts) ?? null) };
    })
    .map((line) => ({ line, known: line.values.filter((value) => value !== null).length }))
    .filter(({ known }) => known > 0);
  const most = new Set([...found].sort((one, other) => other.known - one.known).slice(0, MOST_LINES));
  return { lines: found.filter((one) => most.has(one)).map(({ line }) => line), others: found.length - most.size };
}

/** The request of the charts: of these series, those that the API returns. */
export function aggregateQuery(query: Query, series: ReturnType<typeof seriesOf>, histogram: number): Query {
  return { ...query, series: JSON.stringify(series.slice(0, MOST_ASKED)), histogram };
}

/** The results of a timeline as two stacked bars. */
export function resultsOf(points: readonly TimelinePoint[]): Series[] {
  return [
    { name: "done", values: points.map(({ done }) => done), color: "var(--ok)" },
    { name: "failed", values: points.map(({ error, timeout }) => error + timeout), color: "var(--err)" },
  ];
}

/** Why evaluations wait; null while the evaluator answers. */
export function troubleOf({ state, failures, last_error }: EvaluatorHealth): string | null {
  if (state !== "open") return null;
  const failed = `The last ${plural(failures, "call")} of the evaluator failed: ${last_error ?? "it gave no reason"}.`;
  return `${failed} Evaluations wait, and nothing is lost for 24 hours. Next call: `;
}

/** How many results have a score. */
export function countOf({ score_stats }: Pick<EvaluationAggregate, "score_stats">, key: string): number {
  return score_stats.find((stats) => stats.key === key)?.count ?? 0;
}

/** What stands beside a mean: its range, and how many results have the score where not all have it. */
export function scoreNote({ count, min, max }: ScoreStats, total: number): string {
  const range = `${decimal(min)} – ${decimal(max)}`;
  return count === total ? range : `${range}, of ${exact(count)}`;
}
