import type { Query } from "../api/request";
import { can } from "../api/session";
import type { CostFigures, CostGroup, Costs } from "../api/types";
import { TimeChart } from "../kit/charts/time-chart";
import type { Pages } from "../kit/data/load";
import { Figures } from "../kit/list/figures";
import { StatusBar } from "../kit/list/status-bar";
import { type Column, Table } from "../kit/list/table";
import { Tabs } from "../kit/overlay/tabs";
import { navigate, param, setQuery } from "../kit/router";
import { compact, exact, percent } from "../kit/text/formats";
import { money } from "../kit/text/money";
import { Count, CountOf, Money } from "../kit/text/values";
import { changed, pathOf, searchOf } from "../kit/url";
import type { CostPage } from "./api";
import {
  cachedShare,
  GROUPINGS,
  type Grouping,
  groupingOf,
  groupValue,
  listQuery,
  ratio,
  STANDARD,
  stackOf,
} from "./model";

/** The key figures of all calls. */
export function Sums({ total, series }: Costs) {
  const { cost_usd, unpriced_calls, calls, sessions, assumed_calls } = total;
  const points = series.find(({ key }) => key === null)?.points ?? [];
  const cached = cachedShare(total);
  return (
    <Figures
      figures={[
        {
          label: "Cost",
          value: <Money value={cost_usd} unpriced={unpriced_calls} />,
          note: assumed_calls > 0 && `${compact(assumed_calls)} assumed`,
          color: "var(--cat-1)",
          spark: points.map((point) => point.cost_usd),
        },
        {
          label: "Calls",
          value: <Count value={calls} />,
          color: "var(--cat-4)",
          spark: points.map((point) => point.calls),
        },
        {
          label: "Cost a session",
          value: <Money value={ratio(cost_usd, sessions)} unpriced={unpriced_calls} />,
          note: `of ${compact(sessions)}`,
        },
        { label: "Cached share", value: cached === null ? "–" : percent(cached), note: "of the input" },
        {
          label: "Without a price",
          value: <Count value={unpriced_calls} unit="calls" />,
          note: percent(unpriced_calls / calls),
        },
      ]}
    />
  );
}

interface GroupsProps {
  org: string;
  page: CostPage;
  pages: Pages<CostGroup>;
  /** The filters of the request. */
  filters: Query;
}

/** The costs by a dimension: over time, and as a table. */
export function Groups({ org, page: { costs, grouping }, pages, filters }: GroupsProps) {
  const rows = pages.data ?? [];
  const { times, series } = stackOf(costs.series, grouping);
  const onBrush = (from: number, to: number) =>
    setQuery({ t: null, from: new Date(from).toISOString(), to: new Date(Math.max(to, from + 1)).toISOString() });
  const hrefOf = (row: CostGroup) => hrefOfGroup(org, filters, grouping, groupValue(row, grouping));
  return (
    <Tabs
      label="Group by"
      tabs={GROUPINGS}
      value={groupingOf(param("group_by")).id}
      onChange={(id) => setQuery({ group_by: id === GROUPINGS[0].id ? null : id })}
    >
      <section class="costs-chart">
        <h2>Cost over time</h2>
        <TimeChart
          label="Cost over time"
          kind={grouping.id === "tag" ? "line" : "stacked_bar"}
          times={times}
          series={series}
          onBrush={onBrush}
          height={200}
          left={64}
          format={money}
        />
      </section>
      <Table
        label="Costs"
        columns={columnsOf(grouping, costs.total, hrefOf)}
        rows={rows}
        idOf={(row) => JSON.stringify(row.key)}
        scroll="page"
        sort={{ key: param("sort") ?? "cost", descending: true }}
        onSort={({ key }) => setQuery({ sort: key === "cost" ? null : key })}
        onOpen={(row) => {
          const href = hrefOf(row);
          if (href) void navigate(href);
        }}
        busy={pages.busy}
      />
      {pages.hasMore && (
        // It does not press itself: what stands below has to stay within reach.
        <button type="button" class="button load-more" aria-disabled={pages.busy} onClick={pages.more}>
          Load more
        </button>
      )}
      <StatusBar search={false}>
        {`${exact(rows.length)} ${rows.length === 1 ? grouping.label.toLowerCase() : grouping.many} shown`}
        {pages.hasMore && ", more below"}
      </StatusBar>
    </Tabs>
  );
}

/** The sessions of a group; its one session; its events for those who see no sessions. */
function hrefOfGroup(org: string, filters: Query, grouping: Grouping, value: string | null): string | null {
  if (grouping.id === "session_id" && value !== null) return pathOf(org, "sessions", value);
  const range: Query = { t: param("from") || param("to") ? null : (param("t") ?? STANDARD) };
  const query = listQuery(filters, { ...range, from: param("from"), to: param("to") }, grouping, value);
  const list = pathOf(org, can("evaluations:read") ? "sessions" : "events");
  return query && list + searchOf(changed(new URLSearchParams(), query as Record<string, string | null>));
}

function columnsOf(
  { id, label }: Grouping,
  total: CostFigures,
  hrefOf: (row: CostGroup) => string | null,
): Column<CostGroup>[] {
  const share = (row: CostGroup) => ratio(row.cost_usd, total.cost_usd ?? 0);
  return [
    {
      key: "name",
      label,
      narrow: "title",
      href: hrefOf,
      cell: ({ key }) => (key[id] == null ? <span class="dim">none</span> : <span title={key[id]}>{key[id]}</span>),
    },
    {
      key: "cost",
      label: "Cost",
      width: "120px",
      number: true,
      sorts: "descending",
      narrow: "value",
      cell: (row) => <Money value={row.cost_usd} unpriced={row.unpriced_calls} />,
    },
    {
      key: "share",
      label: "Share",
      width: "18%",
      cell: (row) => {
        const part = share(row);
        return (
          part !== null && (
            <span class="costs-share">
              <span class="costs-bar" aria-hidden="true">
                <i style={{ width: `${part * 100}%` }} />
              </span>
              {percent(part)}
            </span>
          )
        );
      },
    },
    {
      key: "calls",
      label: "Calls",
      width: "90px",
      number: true,
      sorts: "descending",
      narrow: "note",
      cell: (row) => <CountOf value={row.calls} noun="call" />,
    },
    ...(id === "session_id"
      ? []
      : [
          {
            key: "sessions",
            label: "Sessions",
            width: "90px",
            number: true,
            cell: (row: CostGroup) => <Count value={row.sessions} />,
          },
          {
            key: "each",
            label: "A session",
            width: "110px",
            number: true,
            cell: (row: CostGroup) => <Money value={ratio(row.cost_usd, row.sessions)} unpriced={row.unpriced_calls} />,
          },
        ]),
    {
      key: "tokens",
      label: "Tokens",
      width: "100px",
      number: true,
      sorts: "descending",
      cell: (row) => <Count value={row.input_tokens + row.output_tokens} />,
    },
    {
      key: "cached",
      label: "Cached",
      width: "90px",
      number: true,
      cell: (row) => {
        const cached = cachedShare(row);
        return cached === null ? <span class="dim">–</span> : percent(cached);
      },
    },
  ];
}
