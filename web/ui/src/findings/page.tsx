import { useState } from "preact/hooks";
import { can } from "../api/session";
import type { FindingRow } from "../api/types";
import { useLoad, usePages } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Empty } from "../kit/data/states";
import { Chip, Filters } from "../kit/list/filters";
import { Severity } from "../kit/list/severity";
import { StatusBar } from "../kit/list/status-bar";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { announce } from "../kit/overlay/announce";
import { Page, type PageProps } from "../kit/page";
import { param, setQuery } from "../kit/router";
import { useShortcuts } from "../kit/shortcuts";
import { decimal, middle, plural } from "../kit/text/formats";
import { Moment } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { ActionDialog } from "./action-dialog";
import { PAGE_ROWS, readAudits, readFindings } from "./api";
import { ACTIONS, type ActionOf, actionsOf, OPEN_STATUSES, STATUSES, words } from "./model";

/** The page "Findings", the most urgent ones first. */
export default function FindingsPage({ org }: PageProps) {
  const run = param("run_id");
  // A run found what it found, whatever has become of it since then.
  const status = param("status") ?? (run ? STATUSES.join() : OPEN_STATUSES);
  const query = { status, audit_id: param("audit_id"), run_id: run };
  const load = usePages<FindingRow>(["findings", org, query], (cursor, options) =>
    readFindings(query, cursor, options),
  );
  const [active, setActive] = useState<string | null>(null);
  const [asked, setAsked] = useState<{ row: FindingRow; action: ActionOf } | null>(null);
  const mayWrite = can("audits:write");
  const ask = ({ action: name, label }: ActionOf) => {
    const focused = document.activeElement?.closest<HTMLElement>("[data-row]")?.dataset["row"];
    const row = load.data?.find(({ id }) => id === (focused ?? active));
    const action = row && actionsOf(row).find((one) => one.action === name);
    if (row && action) setAsked({ row, action });
    else
      announce(
        row ? `${label} is not possible: this finding is ${row.status}` : "Choose a finding first: j and k move",
      );
  };
  useShortcuts(
    mayWrite
      ? ACTIONS.flatMap((one) =>
          one.key ? [{ keys: one.key, label: `${one.label} the finding of the row`, run: () => ask(one) }] : [],
        )
      : [],
  );
  const audits = useLoad(`audits ${org}`, readAudits);
  const audited = audits.data?.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  const filters = [
    { param: "status", label: "Status", choices: STATUSES },
    {
      param: "audit_id",
      label: "Audit",
      choices: audited,
      show: (id: string) => audited.find(({ value }) => value === id)?.label ?? id,
    },
  ];
  const curl = () => ({ route: "GET /audits/findings", query: { ...query, limit: PAGE_ROWS } });
  return (
    <Page title="Findings" actions={<ViewToolbar curl={curl} onRefresh={load.reload} />}>
      <Filters
        filters={filters}
        extra={[
          {
            param: "run_id",
            chip: run && (
              <Chip label="Run" value={run} shown={middle(run, 13)} onRemove={() => setQuery({ run_id: null })} />
            ),
          },
        ]}
      />
      <Loaded load={load}>
        {(rows) =>
          rows.length ? (
            <Table
              label="Findings"
              columns={columnsOf(org)}
              rows={rows}
              idOf={(row) => row.id}
              hasMore={load.hasMore}
              onMore={load.more}
              busy={load.busy}
              onActive={setActive}
            />
          ) : (
            <Nothing org={org} filtered={[param("status"), param("audit_id"), run].some((one) => one !== null)} />
          )
        }
      </Loaded>
      {load.data && (
        <StatusBar search={false}>
          {plural(load.data.length, param("status") || run ? "finding" : "open finding")} shown
          {load.hasMore ? ", more below" : ""}
        </StatusBar>
      )}
      {asked && (
        <ActionDialog finding={asked.row} action={asked.action} onClose={() => setAsked(null)} onDone={load.reload} />
      )}
    </Page>
  );
}

function Nothing({ org, filtered }: { org: string; filtered: boolean }) {
  if (filtered)
    return (
      <Empty title="No findings match">
        <button type="button" class="button" onClick={() => setQuery({ status: null, audit_id: null, run_id: null })}>
          Clear filters
        </button>
      </Empty>
    );
  return (
    <Empty title="No findings yet">
      <p>Audits look for failures and file them here.</p>
      <a class="button" href={pathOf(org, "audits")}>
        Go to the audits
      </a>
    </Empty>
  );
}

function columnsOf(org: string): Column<FindingRow>[] {
  return [
    {
      key: "title",
      label: "Finding",
      narrow: "title",
      cell: (row) => <span title={row.description}>{row.title}</span>,
      href: (row) => pathOf(org, "findings", row.id),
    },
    { key: "signal", label: "Signal", width: "150px", narrow: "note", cell: (row) => words(row.signal) },
    {
      key: "severity",
      label: "Severity",
      width: "90px",
      narrow: "value",
      cell: (row) => <Severity value={row.severity} />,
    },
    { key: "priority", label: "Priority", width: "80px", number: true, cell: (row) => decimal(row.priority) },
    { key: "status", label: "Status", width: "100px", narrow: "state", cell: (row) => words(row.status) },
    { key: "seen", label: "Runs", width: "60px", number: true, cell: (row) => row.occurrences },
    {
      key: "assignee",
      label: "Assignee",
      width: "170px",
      cell: (row) => row.assigned_to ?? <span class="dim">none</span>,
    },
    { key: "last", label: "Last seen", width: "150px", cell: (row) => <Moment at={row.last_seen_at} /> },
  ];
}
