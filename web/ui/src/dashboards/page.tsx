import { useState } from "preact/hooks";
import { can } from "../api/session";
import type { DashboardRow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Empty, Failed } from "../kit/data/states";
import { RowActions } from "../kit/list/row-actions";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { Page, type PageProps } from "../kit/page";
import { CountOf, Moment } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { readDashboards } from "./api";
import { askAndDelete, NewDialog, RenameDialog } from "./dialogs";

/** The page "Dashboards". */
export default function DashboardsPage({ org }: PageProps) {
  const [dialog, setDialog] = useState<DashboardRow | "new" | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const load = useLoad(`dashboards ${org}`, readDashboards);
  const remove = (row: DashboardRow) =>
    void askAndDelete(row)
      .then(() => setProblem(null), setProblem)
      .then(load.reload);
  const close = () => setDialog(null);
  const actions = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /dashboards" })} onRefresh={load.reload} />
      {can("dashboards:write") && (
        <button type="button" class="button primary" onClick={() => setDialog("new")}>
          New dashboard
        </button>
      )}
    </>
  );
  return (
    <Page title="Dashboards" actions={actions}>
      {problem !== null && <Failed error={problem} />}
      <Loaded load={load}>
        {({ dashboards }) =>
          dashboards.length ? (
            <Table
              label="Dashboards"
              columns={columnsOf(org, remove, setDialog)}
              rows={dashboards}
              idOf={(row) => row.id}
            />
          ) : (
            <Empty title="No dashboards yet">
              <p>A dashboard shows saved queries as charts and tables, and refreshes them.</p>
            </Empty>
          )
        }
      </Loaded>
      {dialog === "new" && <NewDialog org={org} onClose={close} />}
      {dialog && dialog !== "new" && <RenameDialog dashboard={dialog} onClose={close} onSaved={load.reload} />}
    </Page>
  );
}

function columnsOf(
  org: string,
  remove: (row: DashboardRow) => void,
  rename: (row: DashboardRow) => void,
): Column<DashboardRow>[] {
  const actions = (row: DashboardRow) => [
    { label: "Rename", permission: "dashboards:write", onClick: () => rename(row) },
    { label: "Delete", permission: "dashboards:delete", onClick: () => remove(row) },
  ];
  return [
    {
      key: "name",
      label: "Name",
      width: "240px",
      narrow: "title",
      cell: (row) => row.name,
      href: (row) => pathOf(org, "dashboards", row.id),
    },
    {
      key: "tiles",
      label: "Tiles",
      width: "80px",
      number: true,
      narrow: "value",
      cell: (row) => <CountOf value={row.tile_count} noun="tile" />,
    },
    { key: "description", label: "Description", cell: (row) => row.description },
    {
      key: "author",
      label: "Created by",
      width: "190px",
      narrow: "note",
      cell: (row) => row.created_by ?? <span class="dim">–</span>,
    },
    { key: "updated", label: "Updated", width: "150px", cell: (row) => <Moment at={row.updated_at} /> },
    {
      key: "actions",
      label: "Actions",
      width: "170px",
      narrow: "state",
      cell: (row) => <RowActions name={row.name} actions={actions(row)} />,
    },
  ];
}
