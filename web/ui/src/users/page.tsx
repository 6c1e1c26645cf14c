import { useState } from "preact/hooks";
import { can } from "../api/session";
import type { UserRow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Failed } from "../kit/data/states";
import { permissionsText } from "../kit/form/permission-names";
import { type RowAction, RowActions } from "../kit/list/row-actions";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { announce } from "../kit/overlay/announce";
import { confirm } from "../kit/overlay/dialog";
import { Page, type PageProps } from "../kit/page";
import { Moment, Pill } from "../kit/text/values";
import { disableMember, enableMember, readMembers } from "./api";
import { GrantDialog, InviteDialog } from "./dialogs";
import { grantText, ordered } from "./model";

/** The page "Members". */
export default function MembersPage({ org }: PageProps) {
  const [inviting, setInviting] = useState(false);
  const [edited, setEdited] = useState<UserRow | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const load = useLoad(`members ${org}`, readMembers);
  const change = async (said: string, run: () => Promise<unknown>) => {
    try {
      await run();
      setProblem(null);
      announce(said);
    } catch (error) {
      setProblem(error);
    }
    load.reload();
  };
  const disable = async ({ id, email }: UserRow) => {
    const text =
      "They are signed out of this organization at once. They get their permissions back when you enable them.";
    if (await confirm({ title: `Disable ${email}?`, verb: "Disable", text }))
      await change(`${email} is disabled`, () => disableMember(id));
  };
  const actionsOf = (row: UserRow): RowAction[] => {
    if (row.is_protected) return [];
    if (row.disabled_at)
      return [
        {
          label: "Enable",
          permission: "users:delete",
          onClick: () => void change(`${row.email} is enabled`, () => enableMember(row.id)),
        },
      ];
    return [
      { label: "Edit", permission: "users:update", onClick: () => setEdited(row) },
      { label: "Disable", permission: "users:delete", onClick: () => void disable(row) },
    ];
  };
  const head = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /users" })} onRefresh={load.reload} />
      {can("users:create") && (
        <button type="button" class="button primary" onClick={() => setInviting(true)}>
          Invite
        </button>
      )}
    </>
  );
  return (
    <Page title="Members" actions={head}>
      {problem !== null && <Failed error={problem} />}
      <Loaded load={load}>
        {({ users, sets }) => (
          <>
            <Table label="Members" columns={columnsOf(actionsOf)} rows={ordered(users)} idOf={(row) => row.id} />
            {inviting && <InviteDialog sets={sets} onClose={() => setInviting(false)} onDone={load.reload} />}
            {edited && <GrantDialog row={edited} sets={sets} onClose={() => setEdited(null)} onDone={load.reload} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function columnsOf(actionsOf: (row: UserRow) => RowAction[]): Column<UserRow>[] {
  return [
    { key: "email", label: "E-mail", narrow: "title", cell: (row) => row.email },
    { key: "set", label: "Permission set", narrow: "note", cell: grantText },
    {
      key: "permissions",
      label: "Permissions",
      cell: (row) => <span title={row.permissions.join("\n")}>{permissionsText(row.permissions)}</span>,
    },
    { key: "since", label: "Member since", width: "150px", cell: (row) => <Moment at={row.created_at} /> },
    {
      key: "state",
      label: "State",
      width: "110px",
      narrow: "value",
      cell: (row) => (row.disabled_at ? <Pill>Disabled</Pill> : <Pill kind="ok">Active</Pill>),
    },
    {
      key: "actions",
      label: "Actions",
      width: "170px",
      narrow: "state",
      cell: (row) => <RowActions name={row.email} actions={actionsOf(row)} />,
    },
  ];
}
