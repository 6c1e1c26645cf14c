import { useMemo, useState } from "preact/hooks";
import type { Options, Query } from "../api/request";
import { can } from "../api/session";
import { filterValues, Filters, type Filter } from "../kit/filters";
import { useLoad } from "../kit/load";
import { Loaded } from "../kit/loaded";
import { Nothing } from "../kit/nothing";
import { Page, type PageProps } from "../kit/page";
import { param } from "../kit/router";
import { Failed } from "../kit/states";
import { boundsOf } from "../kit/time";
import { TimeRange } from "../kit/time-range";
import { ViewToolbar } from "../kit/toolbar";
import { currentRange } from "../kit/zone";
import { BINS, facets, readAggregate } from "./api";
import { Aggregate } from "./aggregate";
import { aggregateQuery, countOf, scoresSql, seriesOf } from "./model";
import { Jobs, Lowest } from "./tables";

const agents = (options?: Options) => (can("events:read") ? facets.agents(options) : Promise.resolve([]));
const FILTERS: readonly Filter[] = [
  { param: "environment", label: "Environment", choices: () => facets.environments() },
  { param: "agent_id", label: "Agent", choices: () => agents() },
  { param: "status", label: "Status", choices: ["done", "error", "timeout"], typed: false },
  { param: "session_id", label: "Session", search: true },
];
const FILTERED_BY = FILTERS.map(({ param: name }) => name);
const HOUR_SECS = 3600;

/** The request of the URL. A range that ends now moves on only when `turn` changes. */
function useQuery(turn: number): Query {
  const values = FILTERED_BY.map((name) => param(name));
  const range = currentRange("24h");
  return useMemo(() => {
    const { from, to } = boundsOf(range, Date.now());
    return { ...Object.fromEntries(FILTERED_BY.map((name, index) => [name, values[index]])), ts_from: from, ts_to: to };
  }, [turn, JSON.stringify(range), ...values]);
}

/** The page "Evaluations": scores in figures, over time, and the lowest ones. */
export default function EvaluationsPage({ org }: PageProps) {
  const [turn, setTurn] = useState(0);
  const query = useQuery(turn);
  const offered = useLoad(`scores of ${org} ${turn}`, async (options) => {
    const [keys, environments, known] = await Promise.all([facets.scoreKeys(options), facets.environments(options), agents(options)]);
    return { keys, environments, agents: known };
  });
  const keys = offered.data?.keys ?? [];
  const chosen = param("score");
  const key = chosen && keys.includes(chosen) ? chosen : (keys[0] ?? null);
  const pick = (name: string, all: readonly string[] = []) => (filterValues(name).length ? filterValues(name) : all);
  const series = key === null ? [] : seriesOf(key, pick("agent_id", offered.data?.agents), pick("environment", offered.data?.environments));
  const asked = aggregateQuery(query, series, BINS);
  const load = useLoad(offered.data ? JSON.stringify([asked, turn]) : null, (options) => readAggregate(asked, options));
  const secs = load.data?.timeline.bucket_secs ?? HOUR_SECS;
  return (
    <Page
      title="Evaluations"
      actions={
        <>
          <ViewToolbar
            curl={() => ({ route: "GET /evaluations/aggregate", query: asked })} sql={() => scoresSql(query, secs)}
            onRefresh={() => setTurn(turn + 1)}
          />
          <TimeRange standard="24h" />
        </>
      }
    >
      <Filters filters={FILTERS} />
      <div class="scores-page">
        {offered.error !== null ? (
          <Failed error={offered.error} onRetry={offered.reload} />
        ) : (
          <Loaded load={{ ...load, busy: load.busy || offered.busy, waiting: load.waiting || offered.waiting }}>
            {(data) =>
              data.total ? (
                <Aggregate data={data} scoreKey={key} asked={series.length} />
              ) : (
                <Nothing things="evaluations" filters={FILTERED_BY} standard="24h">
                  Each session that has ended is evaluated, once the organization has an evaluator.
                </Nothing>
              )
            }
          </Loaded>
        )}
        {key !== null && load.data?.total ? <Lowest org={org} query={query} scoreKey={key} count={countOf(load.data, key)} turn={turn} /> : null}
        <Jobs org={org} turn={turn} />
      </div>
    </Page>
  );
}
