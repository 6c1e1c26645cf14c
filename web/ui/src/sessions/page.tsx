import { useEffect, useRef, useState } from "preact/hooks";
import type { Query } from "../api/request";
import type { Session } from "../api/types";
import { NewRows } from "../kit/data/live";
import { type Pages, useLoad, usePages, useRefresh } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Nothing } from "../kit/data/nothing";
import { urlParams, useQuery, useUrlQuery } from "../kit/data/query";
import { ColumnMenu, shownColumns } from "../kit/dimensions/columns";
import { attributeColumns } from "../kit/dimensions/shown";
import { Switch } from "../kit/form/switch";
import { Icon } from "../kit/icon";
import { filterBar, filterNames } from "../kit/list/filter-bar";
import { Filters } from "../kit/list/filters";
import { FigureFilter, rangeChips, ScoreFilter } from "../kit/list/range-filter";
import { StatusBar } from "../kit/list/status-bar";
import { Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { useTight } from "../kit/media";
import { Page, type PageProps } from "../kit/page";
import { navigate, param, place, setQuery } from "../kit/router";
import { plural } from "../kit/text/formats";
import type { Preset, Range } from "../kit/time/time";
import { TimeRange } from "../kit/time/time-range";
import { currentRange } from "../kit/time/zone";
import { pathOf, searchOf } from "../kit/url";
import { jobsBySession, listSessions, PAGE_ROWS, readScoreKeys } from "./api";
import { columnsOf, widthOf } from "./columns";
import { SessionFigures } from "./figures";
import { useLive } from "./live";
import { LAST_EVENT, sortQuery } from "./model";

const FILTERS = filterBar("sessions", { first: ["environment", "agent_id", "status"], search: "session_id" });
const FILTERED_BY = filterNames("sessions");
const OFFERED = ["cost", "user", "version", "tags"];
const COLUMNS = ["cost", "user"];
const MOST_SELECTED = 2;
const SORTED_RANGE = "30d";

/** Other orders than the standard one need a range. */
function standardRange(): Preset {
  return param("sort") ? SORTED_RANGE : "all";
}

/** The range of the URL. "All time" is too long for an order by a value, and the list says what it shows instead. */
function rangeOfList(): Range {
  const range = currentRange(standardRange());
  return param("sort") && range.preset === "all" ? { ...range, preset: SORTED_RANGE } : range;
}

/** The page "Sessions". */
export default function SessionsPage({ org }: PageProps) {
  const { turn, refresh } = useRefresh();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const asked = useUrlQuery([...FILTERED_BY, "sort", "order"], rangeOfList(), turn);
  const query: Query = { ...asked, order: param("order") === "asc" ? "asc" : null };
  const { sort: _, order: __, ...filtered } = query;
  const pages = usePages<Session>([turn, query], (cursor, options) => listSessions({ ...query, cursor }, options));
  const unscored = (pages.data ?? [])
    .filter(({ latest_evaluation }) => !latest_evaluation)
    .map(({ session_id }) => session_id);
  const { data: jobs = new Map() } = useLoad(["jobs", turn, unscored], (options) => jobsBySession(unscored, options));
  const { data: known, busy: findingKeys } = useLoad("score keys", readScoreKeys);
  const keys = known ?? [];
  const chosen = param("score");
  const scoreKey = chosen && keys.includes(chosen) ? chosen : (keys[0] ?? null);
  const totals = useQuery("GET /sessions/totals", findingKeys ? null : { ...filtered, score_key: scoreKey }, turn);
  const table = useRef<HTMLDivElement>(null);
  const descending = query["order"] !== "asc";
  const sort = param("sort") ?? LAST_EVENT;
  // Only this order has new sessions at its top.
  const isLive = param("live") !== "0" && descending && sort === LAST_EVENT;
  const held = () =>
    !!table.current?.querySelector("tbody:hover, tbody:focus-within") ||
    (table.current?.querySelector(".table-scroll")?.scrollTop ?? 0) > 0;
  const live = useLive(isLive, query, pages, held, totals);
  const shown = () => ({ route: "GET /sessions", query: { ...query, limit: PAGE_ROWS } });
  const unfiltered = Object.values(urlParams(FILTERED_BY)).every((value) => value === null);
  const nothing =
    pages.current && pages.data?.length === 0 && unfiltered && currentRange(standardRange()).preset === "all";
  useEffect(() => {
    if (nothing) void navigate(pathOf(org, "start"), { replace: true });
  }, [nothing]);
  const onSelect = (id: string, wanted: boolean) =>
    // The two that were chosen last, so that a third replaces the first.
    setSelected(new Set([...[...selected].filter((one) => one !== id), ...(wanted ? [id] : [])].slice(-MOST_SELECTED)));
  const [a, b] = selected;
  const columns = columnsOf({
    org,
    list: searchOf(place.value.query).slice(1),
    keys,
    scoreKey,
    sort,
    descending,
    jobs,
    added: shownColumns(COLUMNS),
    now: Date.now(),
    tight: useTight(),
    selected,
    onSelect,
  });
  return (
    <Page
      title="Sessions"
      actions={
        <>
          {b !== undefined && (
            <a class="button primary" href={`${pathOf(org, "compare")}${searchOf(new URLSearchParams({ a: a!, b }))}`}>
              <Icon name="git-compare-arrows" />
              Compare
            </a>
          )}
          <Switch
            label="Live"
            checked={isLive}
            onChange={(on) => setQuery(on ? { live: null, sort: null, order: null } : { live: "0" })}
          />
          <ColumnMenu offered={[...OFFERED, ...attributeColumns(pages.data ?? [])]} standard={COLUMNS} />
          <ViewToolbar curl={shown} sql={shown} onRefresh={refresh} />
          <TimeRange standard={standardRange()} />
        </>
      }
    >
      <Filters filters={FILTERS} extra={rangeChips()}>
        <ScoreFilter keys={readScoreKeys} />
        <FigureFilter resource="sessions" />
      </Filters>
      <SessionFigures load={totals} />
      <NewRows waiting={live.waiting} onShow={live.show} />
      <Loaded load={pages}>
        {(rows) =>
          rows.length ? (
            <div
              ref={table}
              class={selected.size ? "sessions-table selecting" : "sessions-table"}
              style={{ "--least": widthOf(columns) }}
            >
              <Table
                label="Sessions"
                columns={columns}
                rows={rows}
                idOf={(row) => row.session_id}
                hasMore={pages.hasMore}
                onMore={pages.more}
                busy={pages.busy}
                sort={{ key: sort, descending }}
                onSort={(wanted) => setQuery(sortQuery(wanted.key, wanted.descending))}
              />
              <StatusBar>{status(pages)}</StatusBar>
            </div>
          ) : (
            !nothing && (
              <Nothing things="sessions" filters={FILTERED_BY} standard={standardRange()}>
                A session appears with its first event.
              </Nothing>
            )
          )
        }
      </Loaded>
    </Page>
  );
}

function status({ data = [], hasMore }: Pages<Session>): string {
  const cut = param("sort") && currentRange(standardRange()).preset === "all";
  return `${plural(data.length, "session")} shown${hasMore ? ", more below" : ""}${cut ? ", of the last 30 days" : ""}`;
}
