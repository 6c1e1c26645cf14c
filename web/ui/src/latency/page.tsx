import { useState } from "preact/hooks";
import type { Query } from "../api/request";
import type { LatencyAggregate } from "../api/types";
import { useLoad, useRefresh } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Nothing } from "../kit/data/nothing";
import { urlParams, useBounds } from "../kit/data/query";
import { filterBar } from "../kit/list/filter-bar";
import { Filters } from "../kit/list/filters";
import type { Sort } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { Tabs } from "../kit/overlay/tabs";
import { Page, type PageProps } from "../kit/page";
import { param, setQuery } from "../kit/router";
import { TimeRange } from "../kit/time/time-range";
import { currentRange } from "../kit/time/zone";
import { pathOf } from "../kit/url";
import { readExtent, readLatency } from "./api";
import { Calls } from "./calls";
import { Charts } from "./charts";
import { type Choice, cellOf, cellParams, FAMILIES, OTHER, othersText, queryOf } from "./model";
import { Names } from "./names";

const ON_BAR = [
  "environment",
  "agent_id",
  "tool_name",
  "model",
  "hook_name",
  "user_id",
  "agent_version",
  "tag",
  "attr",
];
const FILTERS = filterBar("events", { first: ON_BAR }).filter(({ param: name }) => ON_BAR.includes(name));
const FILTERED_BY = FILTERS.map(({ param: name }) => name);

/** What the URL chooses. A range that ends now moves on only when `turn` changes. */
function useChoice(turn: number): Choice {
  const family = FAMILIES.find(({ id }) => id === param("view")) ?? FAMILIES[0]!;
  const filters: Query = urlParams(FILTERED_BY);
  return { family, filters, bounds: useBounds(currentRange("24h"), [turn, family.id, filters]) };
}

interface Answer {
  data: LatencyAggregate;
  /** The figure that has chosen the names. */
  order: string;
  /** The pairs that it is about. Its bounds are closed. */
  choice: Choice;
}

async function read(choice: Choice, order: string, options: Parameters<typeof readLatency>[1]): Promise<Answer> {
  const { family, filters, bounds } = choice;
  const wanted = bounds.from === null && bounds.to === null ? await readExtent(family, filters, options) : bounds;
  const data = await readLatency(queryOf({ ...choice, bounds: wanted }, order), options);
  return { data, order, choice: { ...choice, bounds: { from: data.bounds.from, to: data.bounds.to } } };
}

/** The page "Latency": how long the calls of a family took. */
export default function LatencyPage({ org }: PageProps) {
  const { turn, refresh } = useRefresh();
  const choice = useChoice(turn);
  const [sort, setSort] = useState<Sort>({ key: "p95", descending: true });
  const [order, setOrder] = useState("p95");
  const load = useLoad([choice, order, turn], (options) => read(choice, order, options));
  const onSort = (next: Sort) => {
    setSort(next);
    // Where not all names are there, others may be the first ones by this figure.
    if (next.key !== "key" && load.data?.data.distribution.some(({ key }) => key === OTHER)) setOrder(next.key);
  };
  const shown = load.data && load.current ? load.data.choice : choice;
  const asked = () => ({ route: "GET /events/latency_aggregate", query: queryOf(shown, order) });
  return (
    <Page
      title="Latency"
      actions={
        <>
          <ViewToolbar curl={asked} sql={asked} onRefresh={refresh} />
          <TimeRange standard="24h" />
        </>
      }
    >
      <Filters filters={FILTERS} />
      <Tabs
        label="Pairs of events"
        tabs={FAMILIES}
        value={choice.family.id}
        class="latency"
        onChange={(id) => setQuery({ view: id === FAMILIES[0]!.id ? null : id, ...cellParams(null) })}
      >
        <Loaded load={load}>{(answer) => <Content org={org} {...answer} sort={sort} onSort={onSort} />}</Loaded>
      </Tabs>
    </Page>
  );
}

function Content({
  org,
  data,
  order,
  choice,
  sort,
  onSort,
}: Answer & { org: string; sort: Sort; onSort: (sort: Sort) => void }) {
  const cell = cellOf(param);
  const { start, end } = choice.family;
  const others = othersText(
    data.distribution.map(({ key }) => key),
    order,
  );
  if (!data.summary.count)
    return (
      <Nothing things="pairs" filters={FILTERED_BY} standard="24h">
        A pair is a {start} and the {end} that belongs to it.{" "}
        <a class="link" href={pathOf(org, "events")}>
          See all events
        </a>
      </Nothing>
    );
  return (
    <div class="latency-body">
      <Charts data={data} />
      {cell && <Calls org={org} choice={choice} cell={cell} edges={data.heatmap.edges_ms} />}
      <h2 class="latency-head">Slowest names</h2>
      {others && <p class="latency-note">{others}</p>}
      <Names org={org} rows={data.distribution} choice={choice} sort={sort} onSort={onSort} />
    </div>
  );
}
