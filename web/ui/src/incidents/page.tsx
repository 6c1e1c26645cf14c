import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { can } from "../api/session";
import type { IncidentRow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { LOOK_EVERY_MS, openIncidents } from "../kit/data/open-incidents";
import { Empty } from "../kit/data/states";
import { RadioField, TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { Severity } from "../kit/list/severity";
import { StatusBar } from "../kit/list/status-bar";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { Page, type PageProps } from "../kit/page";
import { navigate } from "../kit/router";
import { plural } from "../kit/text/formats";
import { Moment } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { boardQuery, openIncident, readIncidents } from "./api";
import { breachText, sections } from "./model";

/** The page "Incidents": firing, acknowledged, and what was resolved in the last week. */
export default function IncidentsPage({ org }: PageProps) {
  const [opening, setOpening] = useState(false);
  const [query] = useState(() => boardQuery(Date.now()));
  const load = useLoad(`incidents ${org}`, (options) => readIncidents(query, options));
  const open = load.data?.filter(({ state }) => state !== "resolved").length;
  useTogether(open, load.reload);
  const head = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /alerts/incidents", query })} onRefresh={load.reload} />
      {can("incidents:write") && (
        <button type="button" class="button primary" onClick={() => setOpening(true)}>
          Open incident
        </button>
      )}
    </>
  );
  return (
    <Page title="Incidents" actions={head}>
      <Loaded load={load}>{(rows) => <Sections org={org} rows={rows} />}</Loaded>
      {open !== undefined && <StatusBar search={false}>{plural(open, "open incident")}</StatusBar>}
      {opening && <OpenDialog org={org} onClose={() => setOpening(false)} />}
    </Page>
  );
}

/** Keeps the page and the number in the navigation alike: both look again, and each follows the other. */
function useTogether(open: number | undefined, reload: () => void): void {
  const shown = useRef(open);
  shown.current = open;
  useEffect(() => {
    if (open !== undefined) openIncidents.value = open;
  }, [open]);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && reload(), LOOK_EVERY_MS);
    const stop = effect(() => {
      const counted = openIncidents.value;
      if (counted !== null && shown.current !== undefined && counted !== shown.current) reload();
    });
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [reload]);
}

function Sections({ org, rows }: { org: string; rows: readonly IncidentRow[] }) {
  if (!rows.length)
    return (
      <Empty title="No incidents yet">
        <p>An alert opens an incident when its rule is breached. People open one by hand.</p>
      </Empty>
    );
  return (
    <div class="incident-sections">
      {sections(rows).map(({ title, rows: mine }) => (
        <section key={title} aria-label={title}>
          <h2>
            {title} <span class="dim">{title === "Resolved" ? `${mine.length} in the last 7 days` : mine.length}</span>
          </h2>
          {mine.length > 0 && (
            <Table
              label={`${title} incidents`}
              columns={columnsOf(org, title === "Resolved")}
              rows={mine}
              idOf={(row) => row.id}
              scroll="page"
            />
          )}
        </section>
      ))}
    </div>
  );
}

function columnsOf(org: string, resolved: boolean): Column<IncidentRow>[] {
  return [
    {
      key: "title",
      label: "Incident",
      width: "280px",
      narrow: "title",
      cell: (row) => row.title,
      href: (row) => pathOf(org, "incidents", row.id),
    },
    { key: "summary", label: "Summary", narrow: "note", cell: (row) => <Summary row={row} /> },
    {
      key: "severity",
      label: "Severity",
      width: "100px",
      narrow: "value",
      cell: (row) => <Severity value={row.alert_severity} />,
    },
    {
      key: "assignees",
      label: "Assignees",
      width: "130px",
      cell: (row) => row.assignees.join(", ") || <span class="dim">none</span>,
    },
    { key: "opened", label: "Opened", width: "150px", cell: (row) => <Moment at={row.opened_at} /> },
    resolved
      ? {
          key: "resolved",
          label: "Resolved",
          width: "150px",
          narrow: "state",
          cell: (row) => row.resolved_at && <Moment at={row.resolved_at} />,
        }
      : {
          key: "breached",
          label: "Last breach",
          width: "150px",
          narrow: "state",
          cell: (row) => <Moment at={row.last_breach_at} />,
        },
  ];
}

function Summary({ row }: { row: IncidentRow }) {
  const text = breachText(row.breach_summary ?? "", row.evidence);
  return <span title={text}>{text}</span>;
}

const SEVERITIES = [
  { value: "info", label: "info" },
  { value: "warning", label: "warning" },
  { value: "critical", label: "critical" },
];

function OpenDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const form = useForm({ title: "", summary: "", severity: "warning" as const }, async (values) => {
    const { id } = await openIncident(values);
    await navigate(pathOf(org, "incidents", id));
  });
  return (
    <FormDialog title="Open incident" verb="Open incident" form={form} onClose={onClose}>
      <TextField form={form} name="title" label="Title" autofocus />
      <TextField form={form} name="summary" label="Summary" rows={4} hint="Say what is wrong, and where." />
      <RadioField form={form} name="severity" label="Severity" options={SEVERITIES} />
    </FormDialog>
  );
}
