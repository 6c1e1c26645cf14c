import { can } from "../api/session";
import type { AlertRow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Empty } from "../kit/data/states";
import { Severity } from "../kit/list/severity";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { Page, type PageProps } from "../kit/page";
import { Moment, Pill } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { readAlerts } from "./api";
import { conditionText } from "./condition";

/** The page "Alerts". */
export default function AlertsPage({ org }: PageProps) {
  const load = useLoad(`alerts ${org}`, readAlerts);
  const head = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /alerts" })} onRefresh={load.reload} />
      {can("alerts:write") && (
        <a class="button primary" href={pathOf(org, "alerts", "new")}>
          New alert
        </a>
      )}
    </>
  );
  return (
    <Page title="Alerts" actions={head}>
      <Loaded load={load}>
        {(rows) =>
          rows.length ? (
            <Table label="Alerts" columns={columnsOf(org, rows)} rows={rows} idOf={(row) => row.id} />
          ) : (
            <Empty title="No alerts yet">
              <p>
                An alert watches a metric, a score, a query or single events, and opens an incident when its rule is
                breached.
              </p>
            </Empty>
          )
        }
      </Loaded>
    </Page>
  );
}

function columnsOf(org: string, rows: readonly AlertRow[]): Column<AlertRow>[] {
  const failed = rows.some(({ last_error }) => last_error);
  return [
    {
      key: "name",
      label: "Name",
      width: "220px",
      narrow: "title",
      cell: (row) => row.name,
      href: (row) => pathOf(org, "alerts", row.id),
    },
    { key: "enabled", label: "Enabled", width: "90px", cell: (row) => (row.enabled ? "yes" : <Pill>no</Pill>) },
    {
      key: "severity",
      label: "Severity",
      width: "90px",
      narrow: "value",
      cell: (row) => <Severity value={row.severity} />,
    },
    {
      key: "condition",
      label: "Condition",
      narrow: "note",
      cell: (row) => <span title={conditionText(row)}>{conditionText(row)}</span>,
    },
    {
      key: "evaluated",
      label: "Last evaluated",
      width: "150px",
      cell: (row) => (row.last_attempted_at ? <Moment at={row.last_attempted_at} /> : <span class="dim">never</span>),
    },
    // Without an error the condition has its room.
    ...(failed
      ? [
          {
            key: "error",
            label: "Last error",
            width: "160px",
            cell: (row: AlertRow) =>
              row.last_error && (
                <span class="err" title={row.last_error}>
                  {row.last_error}
                </span>
              ),
          },
        ]
      : []),
    {
      key: "incidents",
      label: "Open incidents",
      width: "120px",
      number: true,
      narrow: "state",
      cell: (row) => (
        <span class={row.open_incidents ? "err" : "dim"}>
          {row.open_incidents}
          <span class="narrow-unit"> open</span>
        </span>
      ),
    },
  ];
}
