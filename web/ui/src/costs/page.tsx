import { useState } from "preact/hooks";
import type { Query } from "../api/request";
import { can } from "../api/session";
import type { CostGroup } from "../api/types";
import { EVENT_FILTERS, EVENT_PARAMS, useEventQuery } from "../kit/data/event-query";
import { usePages, useRefresh } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Nothing } from "../kit/data/nothing";
import { urlParams } from "../kit/data/query";
import { Empty } from "../kit/data/states";
import { Filters } from "../kit/list/filters";
import { ViewToolbar } from "../kit/list/toolbar";
import { Page, type PageProps } from "../kit/page";
import { param } from "../kit/router";
import { TimeRange } from "../kit/time/time-range";
import { currentRange, zone } from "../kit/time/zone";
import { pathOf } from "../kit/url";
import { type CostPage, PAGE_ROWS, readCosts } from "./api";
import { Budgets } from "./budgets";
import { Groups, Sums } from "./groups";
import { groupingOf, STANDARD, spanOf } from "./model";
import { Reported } from "./reported";
import { Unpriced } from "./unpriced";

// Calls are what models answer, so filters of tools, hooks and errors exclude everything.
const OTHERS = ["event_type", "tool_name", "hook_name", "trigger_event", "error_type", "errored"];
const FILTERS = EVENT_FILTERS.filter(({ param: name }) => !OTHERS.includes(name));
const PARAMS = EVENT_PARAMS.filter((name) => !OTHERS.includes(name) && !name.startsWith("search"));
const NO_FILTERS = Object.fromEntries(
  EVENT_PARAMS.filter((name) => !PARAMS.includes(name)).map((name) => [name, null]),
);

/** The page "Costs": what calls cost, by a dimension and over time, what has no price, and the budgets. */
export default function CostsPage({ org }: PageProps) {
  const { turn, refresh } = useRefresh();
  const grouping = groupingOf(param("group_by"));
  const asked = { ...useEventQuery(STANDARD, turn), ...NO_FILTERS };
  const range = currentRange(STANDARD);
  const { ts_from, bucket } = spanOf(
    range,
    { from: asked["ts_from"] as string | null, to: asked["ts_to"] as string | null },
    Date.now(),
  );
  const filtered: Query = { ...asked, ts_from };
  const query: Query = { ...filtered, group_by: grouping.id, bucket, tz: zone.value, sort: param("sort") };
  const shown = () => ({ route: "GET /costs", query: { ...query, limit: PAGE_ROWS } });
  const [page, setPage] = useState<CostPage | null>(null);
  const pages = usePages<CostGroup>([turn, query], async (cursor, options) => {
    const found = await readCosts({ ...query, cursor }, grouping, options);
    // Later pages leave groups out of their sums.
    if (cursor === null) setPage(found);
    return found;
  });
  return (
    <Page
      title="Costs"
      actions={
        <>
          <ViewToolbar curl={shown} sql={shown} onRefresh={refresh} />
          <TimeRange standard={STANDARD} />
        </>
      }
    >
      <Filters filters={FILTERS} />
      <div class="costs">
        <Loaded load={pages} class="costs-part">
          {() =>
            page &&
            (page.costs.total.calls === 0 ? (
              <NoCosts org={org} />
            ) : (
              <>
                <Sums {...page.costs} />
                <Groups org={org} page={page} pages={pages} filters={asked} />
              </>
            ))
          }
        </Loaded>
        {page !== null && page.costs.total.calls > 0 && (
          <>
            <Unpriced org={org} query={filtered} turn={turn} onPriced={refresh} />
            <Reported total={page.costs.total} />
          </>
        )}
        {can("alerts:read") && <Budgets org={org} turn={turn} />}
      </div>
    </Page>
  );
}

function NoCosts({ org }: { org: string }) {
  const given = Object.values(urlParams([...PARAMS, "t", "from", "to"])).some((value) => value !== null);
  if (given)
    return (
      <Nothing things="costs" filters={PARAMS} standard={STANDARD}>
        Costs come from model_response events with tokens.
      </Nothing>
    );
  return (
    <Empty title="No costs yet">
      <p>Costs come from model_response events with tokens</p>
      {can("settings:write") && (
        <p>
          <a class="link" href={`${pathOf(org, "prices")}?reprice=all`}>
            Reprice stored calls
          </a>{" "}
          that have none yet.
        </p>
      )}
    </Empty>
  );
}
