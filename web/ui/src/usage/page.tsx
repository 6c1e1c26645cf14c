import type { Usage, UsageOfWindow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { useQuery } from "../kit/data/query";
import { Figures } from "../kit/list/figures";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { Page, type PageProps } from "../kit/page";
import { param } from "../kit/router";
import { Count, CountOf, Moment, Pill } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { readWindows } from "./api";
import { GROUPS, limitFigures } from "./model";

/** The page "Usage": counters of one window of 30 days, and the list of windows. */
export default function UsagePage({ org }: PageProps) {
  const start = param("window_start");
  const usage = useQuery("GET /usage", { window_start: start });
  const windows = useLoad(`windows ${org}`, readWindows);
  const refresh = () => {
    usage.reload();
    windows.reload();
  };
  const curl = () => ({ route: "GET /usage", query: { window_start: start } });
  return (
    <Page title="Usage" actions={<ViewToolbar curl={curl} onRefresh={refresh} />}>
      <div class="usage">
        <Loaded load={usage} class="usage-counters">
          {(data) => <Counters usage={data} />}
        </Loaded>
        <h2>Windows of 30 days</h2>
        <Loaded load={windows}>
          {(data) => (
            <Table
              label="Windows"
              columns={columnsOf(org, usage.data)}
              rows={data}
              idOf={(row) => row.from}
              selected={usage.data?.window.start}
              scroll="page"
            />
          )}
        </Loaded>
      </div>
    </Page>
  );
}

function Counters({ usage }: { usage: Usage }) {
  const limits = usage.limits ? limitFigures(usage.limits) : [];
  return (
    <>
      <p class="usage-window">
        <Moment at={usage.window.start} /> to <Moment at={usage.window.end} />
        <span class="dim">
          counted <Moment at={usage.calculated_at} />
        </span>
      </p>
      {limits.length > 0 && (
        <section aria-label="Limits">
          <h2>Limits</h2>
          <Figures figures={limits} />
        </section>
      )}
      {GROUPS.map(({ title, counters }) => (
        <section key={title} aria-label={title}>
          <h2>{title}</h2>
          <Figures
            figures={counters.map(({ name, label }) => ({ label, value: <Count value={usage.usage[name]} /> }))}
          />
        </section>
      ))}
    </>
  );
}

function columnsOf(org: string, usage: Usage | undefined): Column<UsageOfWindow>[] {
  const newest = (row: UsageOfWindow) => Date.parse(row.to) > Date.now();
  return [
    {
      key: "from",
      label: "From",
      narrow: "title",
      cell: (row) => <Moment at={row.from} />,
      href: (row) => pathOf(org, "usage") + (newest(row) ? "" : `?window_start=${encodeURIComponent(row.from)}`),
    },
    { key: "to", label: "To", narrow: "note", cell: (row) => <Moment at={row.to} /> },
    {
      key: "events",
      label: "Events ingested",
      number: true,
      narrow: "value",
      cell: (row) => <CountOf value={row.events_ingested} noun="event" />,
    },
    { key: "evaluations", label: "Evaluations", number: true, cell: (row) => <Count value={row.evaluations} /> },
    {
      key: "state",
      label: "State",
      narrow: "state",
      width: "140px",
      cell: (row) =>
        row.from === usage?.window.start ? <Pill kind="info">Shown above</Pill> : newest(row) ? "Current" : "",
    },
  ];
}
