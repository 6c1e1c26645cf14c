import { useEffect, useRef } from "preact/hooks";
import type { EventSummary } from "../api/types";
import { EVENT_FILTERS, EVENT_PARAMS, useEventQuery } from "../kit/data/event-query";
import { NewRows } from "../kit/data/live";
import { usePages, useRefresh } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Nothing } from "../kit/data/nothing";
import { ColumnMenu, shownColumns } from "../kit/dimensions/columns";
import { Switch } from "../kit/form/switch";
import { type Filter, Filters } from "../kit/list/filters";
import { SearchBox } from "../kit/list/search-box";
import { StatusBar } from "../kit/list/status-bar";
import { Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { Page, type PageProps } from "../kit/page";
import { param, place, remember, setQuery } from "../kit/router";
import { plural } from "../kit/text/formats";
import { TimeRange } from "../kit/time/time-range";
import { currentRange } from "../kit/time/zone";
import { changed, pathOf, searchOf } from "../kit/url";
import { listEvents, PAGE_ROWS } from "./api";
import { columnsOf } from "./columns";
import { useLive } from "./live";
import { EventPanel } from "./panel";

const FILTERS: readonly Filter[] = [...EVENT_FILTERS, { param: "search_exclude", label: "Search without" }];

const OFFERED = ["user", "version", "cost"];

/** The parameters of a chosen event: its id, and the session that it is read from. */
function choice(event: EventSummary | null) {
  return { e: event && `${event.id}`, of: event?.session_id ?? null };
}

/** The page "Events", the newest ones first. */
export default function EventsPage({ org }: PageProps) {
  const { turn, refresh } = useRefresh();
  const query = useEventQuery("all", turn);
  const pages = usePages<EventSummary>([turn, query], (cursor, options) => listEvents({ ...query, cursor }, options));
  const list = useRef<HTMLDivElement>(null);
  const isLive = param("live") !== "0" && !currentRange("all").to;
  const live = useLive(isLive, query, pages, () => hasScrolled(list.current));
  const chosen = param("e");
  useEffect(() => {
    // A reload and Back lead to the row again.
    if (!chosen || !pages.data) return;
    remember("rows", pages.data.length);
    remember("row", chosen);
  }, [chosen]);
  // The API reads an event by its session, which links of other pages do not name.
  const missing = chosen && !param("of") && pages.data?.every((row) => `${row.id}` !== chosen);
  const shown = () => ({ route: "GET /events/summary", query: { ...query, limit: PAGE_ROWS } });
  const linkTo = (event: EventSummary) => pathOf(org, "events") + searchOf(changed(place.value.query, choice(event)));
  return (
    <Page
      title="Events"
      actions={
        <>
          <Switch
            label="Live"
            checked={isLive}
            onChange={(on) => setQuery(on ? { live: null, to: null } : { live: "0" })}
          />
          <ColumnMenu offered={OFFERED} standard={[]} />
          <ViewToolbar curl={shown} sql={shown} onRefresh={refresh} />
          <TimeRange standard="all" />
        </>
      }
    >
      <Filters filters={FILTERS} extra={[{ param: "search", chip: null }]}>
        <SearchBox label="Search payloads" />
      </Filters>
      {missing && (
        <p class="notice warn" role="status">
          The event of this link is not among the rows shown.
        </p>
      )}
      <div class="events-split">
        <div class="events-list" ref={list}>
          <NewRows
            waiting={live.waiting}
            onShow={() => {
              toTop(list.current);
              live.show();
            }}
          />
          <Loaded load={pages}>
            {(rows) =>
              rows.length ? (
                <>
                  <Table
                    label="Events"
                    columns={columnsOf(org, linkTo, shownColumns([]), chosen !== null)}
                    rows={rows}
                    idOf={(row) => `${row.id}`}
                    selected={chosen}
                    onOpen={(row) => setQuery(choice(row))}
                    hasMore={pages.hasMore}
                    onMore={pages.more}
                    busy={pages.busy}
                  />
                  <StatusBar>{`${plural(rows.length, "event")} shown${pages.hasMore ? ", more below" : ""}`}</StatusBar>
                </>
              ) : (
                <Nothing things="events" filters={EVENT_PARAMS} standard="all">
                  Events appear here as soon as an agent sends them.{" "}
                  <a class="link" href={pathOf(org, "start")}>
                    Send your first event
                  </a>
                </Nothing>
              )
            }
          </Loaded>
        </div>
        <Chosen org={org} rows={pages.data ?? []} />
      </div>
    </Page>
  );
}

/** The panel of the event that the URL names. */
function Chosen({ org, rows }: { org: string; rows: readonly EventSummary[] }) {
  const id = param("e");
  if (!id) return null;
  const at = rows.findIndex((row) => `${row.id}` === id);
  const session = rows[at]?.session_id ?? param("of");
  if (!session) return null;
  const other = (row: EventSummary | undefined) => (at >= 0 && row ? () => setQuery(choice(row)) : null);
  return (
    <EventPanel
      org={org}
      session={session}
      id={id}
      onClose={() => setQuery(choice(null))}
      onChoose={(other, of) => setQuery({ e: `${other}`, of })}
      step={{ previous: other(rows[at - 1]), next: other(rows[at + 1]) }}
    />
  );
}

/** The elements that may scroll: the table in itself, or the page where the screen is narrow. */
function scrollers(list: HTMLElement | null): Element[] {
  return [list?.querySelector(".table-scroll"), list?.closest("main")].filter((element) => !!element);
}

function hasScrolled(list: HTMLElement | null): boolean {
  return scrollers(list).some(({ scrollTop }) => scrollTop > 0);
}

function toTop(list: HTMLElement | null): void {
  for (const element of scrollers(list)) element.scrollTop = 0;
}
