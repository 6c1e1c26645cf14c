import { can } from "../../api/session";
import type { BudgetFacts, IncidentDetail } from "../../api/types";
import type { Described } from "../../kit/data/curl";
import { useLoad } from "../../kit/data/load";
import { Loaded } from "../../kit/data/loaded";
import { type EventRow, readNamedEvents } from "../../kit/data/named-events";
import { SqlLink } from "../../kit/list/sql-link";
import { type Column, Table } from "../../kit/list/table";
import { exact, percent } from "../../kit/text/formats";
import { Text } from "../../kit/text/text";
import { Moment, Money } from "../../kit/text/values";
import { pathOf, searchOf } from "../../kit/url";
import { eventsSearch, evidenceOf, type Evidence as Found, levelText, moreText, spendingOf } from "../model";

/** The events, sessions or rows behind an incident, as links. */
export function Evidence({
  org,
  incident,
  sql,
}: {
  org: string;
  incident: IncidentDetail;
  sql: (() => string | Described) | undefined;
}) {
  const found = evidenceOf(incident);
  const { query, events, sessions, result } = found;
  const spending = spendingOf(incident);
  if (!query && !events.length && !sessions.length && !result && !spending) return null;
  return (
    <section class="panel" aria-label="Evidence">
      <header class="panel-head">
        <h2>Evidence</h2>
        <span class="dim grow">{found.counts}</span>
        {sql && (
          <SqlLink class="link" sql={sql}>
            Open in SQL
          </SqlLink>
        )}
        {query && can("events:read") && (
          <a class="link" href={pathOf(org, "events") + searchOf(eventsSearch(query))}>
            Open in Events
          </a>
        )}
      </header>
      {spending ? (
        <Spending facts={spending} />
      ) : events.length && can("events:read") ? (
        <Events org={org} found={found} />
      ) : result ? (
        <Result org={org} {...result} />
      ) : (
        <Sessions org={org} found={found} />
      )}
      <Note>{moreText(incident)}</Note>
    </section>
  );
}

/** What a budget found: what is spent of it in its period, and what will be. */
function Spending({ facts }: { facts: BudgetFacts }) {
  const { value, bound, share, forecast_usd, levels, window } = facts;
  // Calls without a price are no spending of $0.
  const unpriced = facts.counts.unpriced_calls;
  return (
    <dl class="facts-list pair">
      <div>
        <dt>Spent</dt>
        <dd>
          <Money value={unpriced ? value || null : value} unpriced={unpriced} /> of <Money value={bound} />,{" "}
          {percent(share)}
        </dd>
      </div>
      {forecast_usd !== null && (
        <div>
          <dt>Forecast</dt>
          <dd>
            <Money value={forecast_usd} />
          </dd>
        </div>
      )}
      <div>
        <dt>Levels</dt>
        <dd>{levels.map(levelText).join(", ")}</dd>
      </div>
      <div>
        <dt>Period</dt>
        <dd>
          <Moment at={window.from} /> – <Moment at={window.to} />
        </dd>
      </div>
    </dl>
  );
}

function Events({ org, found }: { org: string; found: Found }) {
  const load = useLoad(["evidence", org, found.events, found.sessions], (options) =>
    readNamedEvents(found.events, found.sessions, options),
  );
  const columns: Column<EventRow>[] = [
    {
      key: "session",
      label: "Session",
      narrow: "title",
      width: "200px",
      cell: (row) => <span class="mono">{row.session_id}</span>,
      href: (row) => `${pathOf(org, "sessions", row.session_id)}?e=${row.id}`,
    },
    { key: "environment", label: "Environment", width: "120px", narrow: "value", cell: (row) => row.environment },
    {
      key: "summary",
      label: "Summary",
      narrow: "note",
      cell: (row) => (
        <span title={row.summary}>
          <Text>{row.summary}</Text>
        </span>
      ),
    },
    { key: "time", label: "Time", width: "150px", narrow: "state", cell: (row) => <Moment at={row.ts} /> },
  ];
  return (
    <Loaded load={load} class="panel-table">
      {(rows) =>
        rows.length ? (
          <>
            <Table label="Evidence" columns={columns} rows={rows} idOf={(row) => `${row.id}`} scroll="page" />
            <Note>{eventsShown(found, rows.length)}</Note>
          </>
        ) : (
          <Sessions org={org} found={found} />
        )
      }
    </Loaded>
  );
}

function eventsShown({ total, sessionsShown }: Found, shown: number): string | null {
  if (total === null) return sessionsShown && `Events of ${sessionsShown}`;
  return total > shown ? `${exact(shown)} of ${exact(total)} shown` : null;
}

function Note({ children }: { children: string | null }) {
  return children && <p class="dim panel-note">{children}</p>;
}

function Sessions({ org, found: { sessions: ids, sessionsShown } }: { org: string; found: Found }) {
  const columns: Column<string>[] = [
    {
      key: "session",
      label: "Session",
      narrow: "title",
      cell: (id) => <span class="mono">{id}</span>,
      href: (id) => `${pathOf(org, "sessions", id)}?view=evaluations`,
    },
  ];
  if (!ids.length) return <p class="dim panel-note">The window holds no events any more.</p>;
  return (
    <>
      <Table label="Evidence" columns={columns} rows={ids} idOf={(id) => id} scroll="page" />
      <Note>{sessionsShown}</Note>
    </>
  );
}

/** The beginning of what a statement returned. */
function Result({
  org,
  columns: names,
  rows,
}: {
  org: string;
  columns: readonly string[];
  rows: readonly unknown[][];
}) {
  const numbered = rows.map((row, index) => ({ row, index }));
  const columns: Column<(typeof numbered)[number]>[] = names.map((name, place) => ({
    key: `${place}`,
    label: name,
    ...(place === 0 ? { narrow: "title" as const } : place === 1 ? { narrow: "value" as const } : {}),
    cell: ({ row }) => (
      <span class="mono">
        <Text>{cellText(row[place])}</Text>
      </span>
    ),
    href: ({ row }) =>
      name === "session_id" && typeof row[place] === "string" ? pathOf(org, "sessions", row[place]) : null,
  }));
  return <Table label="Evidence" columns={columns} rows={numbered} idOf={({ index }) => `${index}`} scroll="page" />;
}

function cellText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
