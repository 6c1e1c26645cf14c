import { useState } from "preact/hooks";
import { can } from "../api/session";
import type { AuditRow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Empty } from "../kit/data/states";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { Page, type PageProps } from "../kit/page";
import { navigate } from "../kit/router";
import { Moment, Pill } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { readAudits } from "./api";
import { AuditDialog } from "./dialog";
import { scheduleText, scopeText } from "./model";
import { RunState } from "./run-state";

/** The page "Audits". */
export default function AuditsPage({ org }: PageProps) {
  const [creating, setCreating] = useState(false);
  const load = useLoad(`audits ${org}`, readAudits);
  const head = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /audits" })} onRefresh={load.reload} />
      {can("audits:write") && (
        <button type="button" class="button primary" onClick={() => setCreating(true)}>
          New audit
        </button>
      )}
    </>
  );
  return (
    <Page title="Audits" actions={head}>
      <Loaded load={load}>
        {(rows) =>
          rows.length ? (
            <Table label="Audits" columns={columnsOf(org)} rows={rows} idOf={(row) => row.id} />
          ) : (
            <Empty title="No audits yet">
              <p>An audit looks at a window of events again and again, and files what fails as findings.</p>
            </Empty>
          )
        }
      </Loaded>
      {creating && (
        <AuditDialog
          audit={null}
          onClose={() => setCreating(false)}
          onSaved={({ id }) => void navigate(pathOf(org, "audits", id))}
        />
      )}
    </Page>
  );
}

function columnsOf(org: string): Column<AuditRow>[] {
  return [
    {
      key: "name",
      label: "Name",
      narrow: "title",
      cell: (row) => row.name,
      href: (row) => pathOf(org, "audits", row.id),
    },
    { key: "scope", label: "Scope", cell: scopeText },
    { key: "schedule", label: "Schedule", narrow: "note", cell: scheduleText },
    {
      key: "run",
      label: "Last run",
      width: "120px",
      narrow: "value",
      cell: (row) => <RunState status={row.last_run_status} error={row.last_error} />,
    },
    {
      key: "next",
      label: "Next run",
      width: "150px",
      narrow: "state",
      cell: (row) => (row.enabled && row.next_attempt_at ? <Moment at={row.next_attempt_at} /> : <Pill>Disabled</Pill>),
    },
    { key: "findings", label: "Open findings", width: "130px", number: true, cell: (row) => row.open_findings },
  ];
}
