import { useMemo } from "preact/hooks";
import type { Query } from "../api/request";
import type { ErrorSummary, EventSummary } from "../api/types";
import { TimeChart } from "../kit/charts/time-chart";
import { EVENT_FILTERS, EVENT_PARAMS, useEventQuery } from "../kit/data/event-query";
import { type Pages, usePages, useRefresh } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Nothing } from "../kit/data/nothing";
import { useQuery } from "../kit/data/query";
import { Figures } from "../kit/list/figures";
import { Filters } from "../kit/list/filters";
import { SearchBox } from "../kit/list/search-box";
import { StatusBar } from "../kit/list/status-bar";
import { Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { Tabs } from "../kit/overlay/tabs";
import { Page, type PageProps } from "../kit/page";
import { navigate, param, setQuery } from "../kit/router";
import { exact, plural } from "../kit/text/formats";
import { Moment } from "../kit/text/values";
import { TimeRange } from "../kit/time/time-range";
import { currentRange } from "../kit/time/zone";
import { pathOf } from "../kit/url";
import { listErrors, PAGE_ROWS } from "./api";
import { errorColumns, eventPath, groupColumns } from "./columns";
import { barsOf, GROUPINGS, type Grouping, groupingOf } from "./model";

const FILTERS = EVENT_FILTERS.filter((filter) => filter.param !== "errored");
const PARAMS = EVENT_PARAMS.filter((name) => name !== "errored");

/** The page "Errors": failed events in figures, over time, by groups, and one by one. */
export default function ErrorsPage({ org }: PageProps) {
  const { turn, refresh } = useRefresh();
  const { errored: _, ...filtered } = useEventQuery("24h", turn);
  const grouping = groupingOf(param("group_by"));
  const counted: Query = { ...filtered, ts_to: useEnd(filtered, turn), group_by: grouping.id };
  const query: Query = { ...filtered, errored: true };
  const summary = useQuery("GET /events/error_summary", counted, turn);
  const pages = usePages<EventSummary>([turn, query], (cursor, options) => listErrors({ ...query, cursor }, options));
  return (
    <Page
      title="Errors"
      actions={
        <>
          <ViewToolbar
            curl={() => ({ route: "GET /events/summary", query: { ...query, limit: PAGE_ROWS } })}
            sql={() => ({ route: "GET /events/error_summary", query: filtered })}
            onRefresh={refresh}
          />
          <TimeRange standard="24h" />
        </>
      }
    >
      <Filters filters={FILTERS} extra={[{ param: "search", chip: null }]}>
        <SearchBox label="Search payloads" />
      </Filters>
      <Loaded load={summary} class="errors-summary">
        {(answer) => <Summary org={org} answer={answer} grouping={grouping} />}
      </Loaded>
      {summary.data?.total ? <List org={org} pages={pages} /> : null}
    </Page>
  );
}

/** The end of a range that ends now. Without one, the chart would end at the last error. */
function useEnd({ ts_from, ts_to }: Query, turn: number): Query[string] {
  const now = useMemo(() => new Date().toISOString(), [ts_from, turn]);
  return ts_to ?? (ts_from ? now : null);
}

function Summary({ org, answer, grouping }: { org: string; answer: ErrorSummary; grouping: Grouping }) {
  const { total } = answer;
  const nothing = total === 0 && (
    <Nothing things="errors" filters={PARAMS} standard="24h">
      Events that report a failure appear here.{" "}
      <a class="link" href={pathOf(org, "events")}>
        See all events
      </a>
    </Nothing>
  );
  // A chosen span without errors keeps its chart, which shows where one is.
  if (nothing && currentRange("24h").preset === "all") return nothing;
  return (
    <>
      <Figures
        figures={[
          { label: "Failed events", value: exact(total), spark: total ? answer.bins : undefined, color: "var(--err)" },
          { label: "Sessions with errors", value: exact(answer.sessions) },
          { label: "Agents with errors", value: exact(answer.agents) },
          { label: "Last error", value: answer.last_ts ? <Moment at={answer.last_ts} /> : "–" },
        ]}
      />
      <OverTime answer={answer} />
      {nothing || <Groups answer={answer} grouping={grouping} />}
    </>
  );
}

function OverTime({ answer }: { answer: ErrorSummary }) {
  const { times, counts } = barsOf(answer);
  const { from_ms, to_ms } = answer.bounds;
  const onBrush = (from: number, to: number) =>
    setQuery({ t: null, from: new Date(from).toISOString(), to: new Date(Math.max(to, from + 1)).toISOString() });
  return (
    <section class="errors-chart">
      <h2>Errors over time</h2>
      <TimeChart
        label="Errors over time"
        kind="bar"
        times={times}
        from={from_ms}
        to={to_ms}
        onBrush={onBrush}
        height={150}
        series={[{ name: "Errors", values: counts, color: "var(--err)" }]}
        format={exact}
        counts
      />
    </section>
  );
}

function Groups({ answer, grouping }: { answer: ErrorSummary; grouping: Grouping }) {
  return (
    <Tabs
      label="Groups"
      tabs={GROUPINGS.map(({ id, label }) => ({ id, label }))}
      value={grouping.id}
      onChange={(id) => setQuery({ group_by: id === GROUPINGS[0].id ? null : id })}
    >
      <Table
        label={`Errors ${grouping.label.toLowerCase()}`}
        columns={groupColumns(grouping, answer.total)}
        rows={answer.groups}
        idOf={(group) => JSON.stringify(group.key)}
        scroll="page"
      />
    </Tabs>
  );
}

function List({ org, pages }: { org: string; pages: Pages<EventSummary> }) {
  return (
    <Loaded load={pages} class="errors-list">
      {(rows) => (
        <>
          <Table
            label="Errors"
            columns={errorColumns(org)}
            rows={rows}
            idOf={(row) => `${row.id}`}
            scroll="page"
            onOpen={(row) => void navigate(eventPath(org, row))}
            hasMore={pages.hasMore}
            onMore={pages.more}
            busy={pages.busy}
          />
          <StatusBar>{`${plural(rows.length, "error")} shown${pages.hasMore ? ", more below" : ""}`}</StatusBar>
        </>
      )}
    </Loaded>
  );
}
