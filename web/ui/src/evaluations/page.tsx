import { useEffect, useRef } from "preact/hooks";
import type { Options, Query } from "../api/request";
import type { JobList } from "../api/types";
import { type Load, useAgain, useLoad, useRefresh } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Nothing } from "../kit/data/nothing";
import { useQuery, useUrlQuery } from "../kit/data/query";
import { Failed } from "../kit/data/states";
import { Switch } from "../kit/form/switch";
import { filterBar } from "../kit/list/filter-bar";
import { Filters, filterValues } from "../kit/list/filters";
import { ViewToolbar } from "../kit/list/toolbar";
import { Tabs } from "../kit/overlay/tabs";
import { Page, type PageProps } from "../kit/page";
import { param, setQuery } from "../kit/router";
import { Moment } from "../kit/text/values";
import { TimeRange } from "../kit/time/time-range";
import { currentRange } from "../kit/time/zone";
import { Aggregate } from "./aggregate";
import { BINS, facets, readJobs, readLowest } from "./api";
import { Jobs } from "./jobs";
import { aggregateQuery, countOf, seriesOf, troubleOf } from "./model";
import { Lowest, Results } from "./tables";

const agents = (options?: Options) => facets.agents(options);
const FILTERS = filterBar("evaluations", {
  first: ["environment", "agent_id", "status"],
  search: "session_id",
  facets: { environment: () => facets.environments(), agent_id: () => agents() },
});
const FILTERED_BY = FILTERS.map(({ param: name }) => name);
const LISTS = [
  { id: "lowest", label: "Lowest scores" },
  { id: "results", label: "Results" },
  { id: "jobs", label: "Evaluation jobs" },
];
const AGAIN_MS = 2000;

/**
 * Reads the jobs while some are listed, and everything when one ends that somebody asked for. Returns what to do after
 * evaluations were queued.
 */
function useFollowing(jobs: Load<JobList>, readAll: () => void): () => void {
  const known = useRef<readonly string[]>([]);
  useEffect(() => {
    if (!jobs.data) return;
    const asked = jobs.data.jobs.filter(({ trigger }) => trigger === "manual").map(({ id }) => id);
    const ended = known.current.some((id) => !asked.includes(id));
    known.current = asked;
    if (ended) readAll();
  }, [jobs.data]);
  useAgain((jobs.data?.jobs.length ?? 0) > 0, jobs, AGAIN_MS);
  return () => {
    readAll();
    // One that ends at once may be in no list, and its result may come after the first reading.
    setTimeout(readAll, AGAIN_MS);
  };
}

/** The page "Evaluations": scores in figures, over time, and the lowest ones. */
export default function EvaluationsPage({ org }: PageProps) {
  const { turn, refresh } = useRefresh();
  const time = param("time") === "completion" ? null : "session";
  const query: Query = { ...useUrlQuery([...FILTERED_BY, "time"], currentRange("24h"), turn), time };
  const offered = useLoad(["scores", org, turn], async (options) => {
    const [keys, environments, known] = await Promise.all([
      facets.scoreKeys(options),
      facets.environments(options),
      agents(options),
    ]);
    return { keys, environments, agents: known };
  });
  const keys = offered.data?.keys ?? [];
  const chosen = param("score");
  const key = chosen && keys.includes(chosen) ? chosen : (keys[0] ?? null);
  const pick = (name: string, all: readonly string[] = []) => (filterValues(name).length ? filterValues(name) : all);
  const lowest = useLoad(key === null ? null : [query, key, turn], (options) => readLowest(query, key!, options));
  const series =
    key === null
      ? []
      : seriesOf(
          key,
          pick("agent_id", offered.data?.agents),
          pick("environment", offered.data?.environments),
          lowest.data ?? [],
        );
  const asked = aggregateQuery(query, series, BINS);
  const isKnown = offered.data && (key === null || lowest.data || lowest.error !== null);
  const jobs = useLoad(["jobs", org, turn], readJobs);
  const onQueued = useFollowing(jobs, refresh);
  const trouble = jobs.data?.health && troubleOf(jobs.data.health);
  const list = param("list") ?? (key === null || param("status") ? "results" : "lowest");
  const load = useQuery("GET /evaluations/aggregate", isKnown ? asked : null, turn);
  return (
    <Page
      title="Evaluations"
      actions={
        <>
          <Switch
            label="By completion"
            checked={!query["time"]}
            onChange={(on) => setQuery({ time: on ? "completion" : null })}
          />
          <ViewToolbar
            curl={() => ({ route: "GET /evaluations/aggregate", query: asked })}
            sql={() => ({ route: "GET /evaluations/aggregate", query })}
            onRefresh={refresh}
          />
          <TimeRange standard="24h" />
        </>
      }
    >
      <Filters filters={FILTERS} />
      {trouble && (
        <p class="notice warn" role="status">
          {trouble}
          <Moment at={jobs.data!.health.retry_at!} />
        </p>
      )}
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
                  Sessions that have ended are evaluated if the deployment has an evaluator, which the variable{" "}
                  <code>EVALUATOR_ENDPOINT</code> names.
                </Nothing>
              )
            }
          </Loaded>
        )}
        <Tabs
          label="Lists"
          tabs={LISTS.map((tab) => (tab.id === "jobs" ? { ...tab, count: jobs.data?.jobs.length || undefined } : tab))}
          value={list}
          onChange={(id) => setQuery({ list: id })}
          class="scores-list"
        >
          {list === "jobs" ? (
            <Jobs org={org} load={jobs} />
          ) : list === "lowest" && key !== null ? (
            <Lowest org={org} load={lowest} scoreKey={key} count={load.data ? countOf(load.data, key) : 0} />
          ) : (
            <Results org={org} query={query} turn={turn} onQueued={onQueued} />
          )}
        </Tabs>
      </div>
    </Page>
  );
}
