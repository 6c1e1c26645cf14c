import { useState } from "preact/hooks";
import { can } from "../api/session";
import type { KeyRow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Empty, Failed } from "../kit/data/states";
import { permissionsText } from "../kit/form/permission-names";
import { type RowAction, RowActions } from "../kit/list/row-actions";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { announce } from "../kit/overlay/announce";
import { confirm } from "../kit/overlay/dialog";
import { Page, type PageProps } from "../kit/page";
import { Moment, Pill } from "../kit/text/values";
import { disableKey, readKeys, regenerateKey } from "./api";
import { EditDialog, type Made, NewKeyDialog, SecretDialog } from "./dialogs";
import { ordered, stateOf } from "./model";

interface Actions {
  disable: (row: KeyRow) => void;
  regenerate: (row: KeyRow) => void;
  edit: (row: KeyRow) => void;
}

/** The page "Keys". */
export default function KeysPage({ org }: PageProps) {
  const [creating, setCreating] = useState(false);
  const [edited, setEdited] = useState<KeyRow | null>(null);
  const [made, setMade] = useState<Made | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const load = useLoad(`keys ${org}`, readKeys);
  const change = async (run: () => Promise<void>) => {
    try {
      await run();
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
    load.reload();
  };
  const actions: Actions = {
    edit: setEdited,
    disable: async ({ id, name }) => {
      const text = "Requests with this key are refused from then on. It cannot be enabled again.";
      if (await confirm({ title: `Disable ${name}?`, verb: "Disable", text }))
        await change(async () => {
          await disableKey(id);
          announce(`${name} is disabled`);
        });
    },
    regenerate: async ({ id, name, permissions }) => {
      const text = "The key gets a new secret. The old one stops working at once.";
      if (await confirm({ title: `Regenerate ${name}?`, verb: "Regenerate", text }))
        await change(async () =>
          setMade({ name, secret: await regenerateKey(id), sends: permissions.includes("events:add") }),
        );
    },
  };
  const head = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /keys" })} onRefresh={load.reload} />
      {can("keys:create") && (
        <button type="button" class="button primary" onClick={() => setCreating(true)}>
          New key
        </button>
      )}
    </>
  );
  return (
    <Page title="Keys" actions={head}>
      {problem !== null && <Failed error={problem} />}
      <Loaded load={load}>
        {(rows) =>
          rows.length ? (
            <Table label="Keys" columns={columnsOf(actions)} rows={ordered(rows, new Date())} idOf={(row) => row.id} />
          ) : (
            <Empty title="No keys yet">
              <p>Collectors and programs use keys. A key holds only the permissions that you give it.</p>
            </Empty>
          )
        }
      </Loaded>
      {creating && (
        <NewKeyDialog
          onClose={() => setCreating(false)}
          onCreated={(next) => {
            setMade(next);
            load.reload();
          }}
        />
      )}
      {edited && <EditDialog row={edited} onClose={() => setEdited(null)} onSaved={load.reload} />}
      {made && <SecretDialog made={made} onClose={() => setMade(null)} />}
    </Page>
  );
}

function columnsOf(actions: Actions): Column<KeyRow>[] {
  return [
    { key: "name", label: "Name", narrow: "title", cell: (row) => row.name },
    {
      key: "permissions",
      label: "Permissions",
      narrow: "note",
      cell: (row) => <span title={row.permissions.join("\n")}>{permissionsText(row.permissions)}</span>,
    },
    { key: "created", label: "Created", width: "150px", cell: (row) => <Moment at={row.created_at} /> },
    {
      key: "expires",
      label: "Expires",
      width: "170px",
      cell: (row) => (row.expires_at ? <Moment at={row.expires_at} /> : <span class="dim">never</span>),
    },
    {
      key: "used",
      label: "Last used",
      width: "150px",
      cell: (row) => (row.last_used_at ? <Moment at={row.last_used_at} /> : <span class="dim">never</span>),
    },
    { key: "state", label: "State", width: "110px", narrow: "value", cell: (row) => <State row={row} /> },
    {
      key: "actions",
      label: "Actions",
      width: "320px",
      narrow: "state",
      cell: (row) => <RowActions name={row.name} actions={actionsOf(row, actions)} />,
    },
  ];
}

function State({ row }: { row: KeyRow }) {
  const state = stateOf(row, new Date());
  if (state === "active") return <Pill kind="ok">Active</Pill>;
  return <Pill>{state === "disabled" ? "Disabled" : "Expired"}</Pill>;
}

function actionsOf(row: KeyRow, actions: Actions): RowAction[] {
  if (row.revoked_at) return [];
  const edit = { label: "Edit permissions", permission: "keys:update", onClick: () => actions.edit(row) };
  if (row.is_protected) return [edit];
  return [
    edit,
    { label: "Regenerate", permission: "keys:regenerate", onClick: () => actions.regenerate(row) },
    { label: "Disable", permission: "keys:disable", onClick: () => actions.disable(row) },
  ];
}
