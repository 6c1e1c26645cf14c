import { useState } from "preact/hooks";
import type { ConversationRow } from "../api/types";
import { useLoad, usePages } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Empty, Failed } from "../kit/data/states";
import { Icon } from "../kit/icon";
import { RowActions } from "../kit/list/row-actions";
import { type Column, Table } from "../kit/list/table";
import { confirm, Dialog } from "../kit/overlay/dialog";
import { MenuButton } from "../kit/overlay/menu";
import { Moment } from "../kit/text/values";
import { deleteConversation, listConversations, readConversations } from "./api";
import { conversation, open, startOver } from "./thread";

/** The menu of the person's conversations, and the list of all of them. */
export function Conversations() {
  const [listed, setListed] = useState(false);
  const load = useLoad(`conversations ${conversation.value}`, readConversations);
  const found = load.data?.conversations ?? [];
  if (!found.length && !listed) return null;
  const items = found.map(({ id, title }) => ({
    label: title,
    checked: id === conversation.value,
    onSelect: () => void open(id),
  }));
  const close = () => {
    setListed(false);
    load.reload();
  };
  return (
    <span class="menu-anchor end">
      <MenuButton
        label="Conversations"
        items={[{ label: "All conversations…", onSelect: () => setListed(true) }, ...items]}
      >
        <Icon name="history" />
      </MenuButton>
      {listed && <List onClose={close} />}
    </span>
  );
}

/** All conversations: each can be opened and deleted. */
function List({ onClose }: { onClose: () => void }) {
  const pages = usePages("all conversations", listConversations);
  const [problem, setProblem] = useState<unknown>(null);
  const show = (id: string) => {
    onClose();
    void open(id);
  };
  const remove = async ({ id, title }: ConversationRow) => {
    if (!(await confirm({ title: `Delete ${title}?`, verb: "Delete", text: "Its questions and answers are deleted." })))
      return;
    try {
      await deleteConversation(id);
      setProblem(null);
      pages.set((pages.data ?? []).filter((row) => row.id !== id));
      if (id === conversation.peek()) startOver();
    } catch (error) {
      setProblem(error);
    }
  };
  const columns: Column<ConversationRow>[] = [
    { key: "title", label: "Conversation", narrow: "title", cell: ({ title }) => <span title={title}>{title}</span> },
    {
      key: "created",
      label: "Begun",
      width: "150px",
      narrow: "value",
      cell: ({ created_at }) => <Moment at={created_at} />,
    },
    {
      key: "actions",
      label: "Actions",
      width: "150px",
      narrow: "state",
      cell: (row) => (
        <RowActions
          name={row.title}
          actions={[
            { label: "Open", onClick: () => show(row.id) },
            { label: "Delete", onClick: () => void remove(row) },
          ]}
        />
      ),
    },
  ];
  return (
    <Dialog title="Conversations" kind="wide" onClose={onClose}>
      {problem !== null && <Failed error={problem} />}
      <Loaded load={pages}>
        {(rows) =>
          rows.length ? (
            <Table
              label="Conversations"
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              hasMore={pages.hasMore}
              onMore={pages.more}
              busy={pages.busy}
              scroll="page"
            />
          ) : (
            <Empty title="No conversations yet" />
          )
        }
      </Loaded>
    </Dialog>
  );
}
