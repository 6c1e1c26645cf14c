import { useRef, useState } from "preact/hooks";
import type { PublishedTables, SchemaTable } from "../api/types";
import { Icon } from "../kit/icon";

interface Props {
  schema: PublishedTables;
  /** Called with the name of a table or column that was chosen. */
  onInsert: (name: string) => void;
}

/** The tree "Schema": tables and their columns. A click puts the name into the statement. */
export function Schema({ schema: { tables }, onInsert }: Props) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set([tables[0]?.name ?? ""]));
  const [current, setCurrent] = useState(tables[0]?.name ?? "");
  const tree = useRef<HTMLUListElement>(null);
  const fold = (name: string, unfolds: boolean) => {
    const next = new Set(open);
    if (unfolds) next.add(name);
    else next.delete(name);
    setOpen(next);
  };
  const focus = (item: HTMLElement | undefined) => {
    if (!item) return;
    setCurrent(item.dataset["id"]!);
    item.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const items = [...tree.current!.querySelectorAll<HTMLElement>("[role=treeitem]")];
    const index = items.findIndex((item) => item.dataset["id"] === current);
    const [table = "", column] = current.split("\n");
    if (event.key === "ArrowDown") focus(items[index + 1]);
    else if (event.key === "ArrowUp") focus(items[index - 1]);
    else if (event.key === "Home") focus(items[0]);
    else if (event.key === "End") focus(items.at(-1));
    else if (event.key === "ArrowRight" && !column) open.has(table) ? focus(items[index + 1]) : fold(table, true);
    else if (event.key === "ArrowLeft")
      column ? focus(items.find((item) => item.dataset["id"] === table)) : fold(table, false);
    else if (event.key === "Enter" || event.key === " ") onInsert(column ?? table);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <ul ref={tree} class="sql-schema" role="tree" aria-label="Schema" onKeyDown={onKeyDown}>
      {tables.map((table) => (
        <Table
          key={table.name}
          table={table}
          open={open.has(table.name)}
          current={current}
          onFold={() => fold(table.name, !open.has(table.name))}
          onChoose={(id, name) => {
            setCurrent(id);
            onInsert(name);
          }}
        />
      ))}
    </ul>
  );
}

interface TableProps {
  table: SchemaTable;
  open: boolean;
  /** The id of the item that Tab reaches. */
  current: string;
  onFold: () => void;
  onChoose: (id: string, name: string) => void;
}

function Table({ table: { name, columns }, open, current, onFold, onChoose }: TableProps) {
  return (
    <>
      <li
        role="treeitem"
        aria-label={name}
        aria-level={1}
        aria-expanded={open}
        data-id={name}
        tabIndex={current === name ? 0 : -1}
        class="sql-item table"
      >
        <span class="sql-fold" aria-hidden="true" onClick={onFold}>
          <Icon name="chevron-right" class={open ? "small turned" : "small"} />
        </span>
        <span class="sql-name" onClick={() => onChoose(name, name)}>
          <Icon name="table" /> {name}
        </span>
      </li>
      {/* Beside its table and not in it: the name of an item holds its whole text. */}
      {open &&
        columns.map((column) => {
          const id = `${name}\n${column.name}`;
          return (
            <li
              key={id}
              role="treeitem"
              aria-label={`${column.name} ${column.type}`}
              aria-level={2}
              data-id={id}
              tabIndex={current === id ? 0 : -1}
              class="sql-item"
              onClick={() => onChoose(id, column.name)}
            >
              <span class="sql-name">{column.name}</span> <small class="mono">{column.type}</small>
            </li>
          );
        })}
    </>
  );
}
