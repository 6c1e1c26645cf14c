import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../icon";
import { useCoarse, useNarrow } from "../media";
import { preferences } from "../preferences";
import { useRowKeys } from "./row-keys";
import { useVirtual } from "./virtual";

export interface Sort {
  key: string;
  descending: boolean;
}

export interface Column<Row> {
  key: string;
  /** The header. `label` is its text where `head` is a control. */
  label: string;
  head?: ComponentChildren;
  cell: (row: Row) => ComponentChildren;
  /** Makes the cell a link. The first column has one where rows lead somewhere. */
  href?: ((row: Row) => string | null) | undefined;
  /** Numbers stand at the right. */
  number?: boolean;
  /** CSS width. Columns without one share the rest. */
  width?: string;
  /** Whether its header is a button that sorts, and whether the highest comes first, as for numbers. */
  sorts?: boolean | "descending";
  /** Its place in the two lines of a narrow row. Default: it is left out there. */
  narrow?: "title" | "value" | "note" | "state";
}

interface Props<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  idOf: (row: Row) => string;
  sort?: Sort | undefined;
  onSort?: ((sort: Sort) => void) | undefined;
  /** The id of the row that is shown beside the table. */
  selected?: string | null | undefined;
  /** Opens a row beside the table, instead of a link. */
  onOpen?: ((row: Row) => void) | undefined;
  hasMore?: boolean | undefined;
  onMore?: (() => void) | undefined;
  busy?: boolean | undefined;
  /** Rows in all where that is known and larger than `rows`. */
  total?: number | undefined;
  /** "own": the table scrolls in itself and fills the page. "page": it scrolls with the page. */
  scroll?: "own" | "page";
  /** Called with the row under pointer or focus, null for none. */
  onActive?: ((id: string | null) => void) | undefined;
}

const VIRTUAL_FROM = 200;

/** A table. On narrow screens each row has two lines; roles stay those of a table. */
export function Table<Row>(props: Props<Row>) {
  const { label, columns, rows, idOf, selected, hasMore, onMore, busy, scroll = "own" } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const narrow = useNarrow();
  const compact = preferences.value.density === "compact";
  // As in the style sheets.
  const row = narrow ? 57 : useCoarse() ? 44 : compact ? 26 : 32;
  const { first, last } = useVirtual(body, rows.length, row, { from: VIRTUAL_FROM });
  const virtual = rows.length > VIRTUAL_FROM;
  const shown = columns.filter((column) => !narrow || column.narrow);
  useRowKeys(body, rows, idOf, row, props.onOpen);
  const total = props.total ?? (hasMore ? -1 : rows.length);
  const spacer = (height: number) =>
    height > 0 && (
      <tr aria-hidden="true" class="spacer">
        <td colSpan={shown.length} style={{ height: `${height}px` }} />
      </tr>
    );
  return (
    <div class={scroll === "own" ? "table-scroll own" : "table-scroll"} tabIndex={scroll === "own" ? 0 : undefined}>
      <table
        role="table"
        aria-label={label}
        aria-busy={busy}
        aria-rowcount={virtual ? (total < 0 ? -1 : total + 1) : undefined}
      >
        <colgroup>
          {shown.map(({ key, width }) => (
            <col key={key} style={width && !narrow ? { width } : undefined} />
          ))}
        </colgroup>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={virtual ? 1 : undefined}>
            {shown.map((column) => (
              <Head key={column.key} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body} role="rowgroup" onPointerLeave={() => props.onActive?.(null)}>
          {spacer(first * row)}
          {rows.slice(first, last).map((one, index) => {
            const id = idOf(one);
            return (
              <tr
                key={id}
                role="row"
                data-row={id}
                tabIndex={props.onOpen ? -1 : undefined}
                aria-rowindex={virtual ? first + index + 2 : undefined}
                aria-selected={selected === id || undefined}
                onPointerEnter={() => props.onActive?.(id)}
                onClick={(event) => {
                  if (!(event.target as Element).closest("a, button, input, label")) props.onOpen?.(one);
                }}
              >
                {shown.map((column) => (
                  <Cell key={column.key} column={column} row={one} />
                ))}
              </tr>
            );
          })}
          {spacer((rows.length - last) * row)}
        </tbody>
      </table>
      {hasMore && onMore && <More busy={busy ?? false} onMore={onMore} />}
    </div>
  );
}

interface HeadProps<Row> {
  column: Column<Row>;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
}

function Head<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const { key, label, head, number, sorts } = column;
  const active = sort?.key === key;
  const direction = active ? (sort.descending ? "descending" : "ascending") : sorts ? "none" : undefined;
  return (
    <th
      role="columnheader"
      scope="col"
      class={number ? "number" : undefined}
      aria-sort={direction}
      data-narrow={column.narrow}
    >
      {sorts && onSort ? (
        <button
          type="button"
          class="sort"
          onClick={() =>
            onSort({ key, descending: active ? !sort.descending : number === true || sorts === "descending" })
          }
        >
          {label}
          {active && <Icon name={sort.descending ? "arrow-down" : "arrow-up"} class="small" />}
        </button>
      ) : (
        (head ?? label)
      )}
    </th>
  );
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const href = column.href?.(row);
  const content = column.cell(row);
  return (
    <td role="cell" class={column.number ? "number" : undefined} data-narrow={column.narrow}>
      {href ? <a href={href}>{content}</a> : content}
    </td>
  );
}

/** The button "Load more", which presses itself when it comes into view. */
function More({ busy, onMore }: { busy: boolean; onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  const run = useRef(onMore);
  run.current = onMore;
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setSeen(entry?.isIntersecting ?? false), {
      rootMargin: "400px",
    });
    observer.observe(button.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (seen && !busy) run.current();
  }, [seen, busy]);
  return (
    <button ref={button} type="button" class="button load-more" aria-disabled={busy} onClick={() => !busy && onMore()}>
      Load more
    </button>
  );
}

/** Rows in the order of a column. Nulls come last in both directions. */
export function sorted<Row>(
  rows: readonly Row[],
  sort: Sort,
  value: (row: Row, key: string) => string | number | null,
): Row[] {
  const sign = sort.descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [value(one, sort.key), value(other, sort.key)];
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return a === b ? 0 : (a < b ? -1 : 1) * sign;
  });
}
