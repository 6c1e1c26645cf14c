import { useMemo, useState } from "preact/hooks";
import type { QueryResult } from "../../api/types";
import { type Column, type Sort, sorted, Table } from "../list/table";
import { useNarrow } from "../media";
import { bytes } from "../text/formats";
import { Moment } from "../text/values";
import { pathOf } from "../url";
import { kindOf, momentOf, numberOf, shortNumber, textOf } from "./model";
import { RowDialog } from "./row";

interface Row {
  id: string;
  values: readonly unknown[];
}

interface Props {
  org: string;
  label: string;
  result: QueryResult;
  /**
   * The order of the rows, where the page keeps it: the index of a column, with "-" before it for the largest first.
   */
  order?: string | null;
  onOrder?: (order: string) => void;
}

const SHOWN_LENGTH = 300;
const NARROW = ["title", "value", "note", "state"] as const;

/** The rows of a result. Headers sort; a row opens all of its values. */
export function ResultTable({ org, label, result, order, onOrder }: Props) {
  const [own, setOwn] = useState<string | null>(null);
  const [open, setOpen] = useState<Row | null>(null);
  const narrow = useNarrow();
  const sort = sortOf(onOrder ? order : own, result.columns.length);
  const rows = useMemo(() => result.rows.map((values, index) => ({ id: `${index + 1}`, values })), [result]);
  const columns = useMemo(() => columnsOf(org, result, narrow), [org, result, narrow]);
  const shown = useMemo(() => {
    if (!sort) return rows;
    const at = Number(sort.key);
    const numeric = kindOf(result.columns[at]!.type) === "number";
    return sorted(rows, sort, ({ values }) =>
      values[at] == null ? null : numeric ? numberOf(values[at]) : textOf(values[at]),
    );
  }, [rows, sort?.key, sort?.descending]);
  const onSort = ({ key, descending }: Sort) => (onOrder ?? setOwn)(`${descending ? "-" : ""}${key}`);
  return (
    <>
      <Table
        label={label}
        columns={columns}
        rows={shown}
        idOf={(row) => row.id}
        sort={sort}
        onSort={onSort}
        onOpen={setOpen}
      />
      {open && (
        <RowDialog
          title={`Row ${open.id}`}
          columns={result.columns}
          values={open.values}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}

function sortOf(order: string | null | undefined, columns: number): Sort | undefined {
  const [, minus, key] = /^(-?)(\d+)$/.exec(order ?? "") ?? [];
  return key && Number(key) < columns ? { key, descending: minus === "-" } : undefined;
}

/** The address of the session that a row belongs to, and of its event where the row has its number. */
export function sessionPath(org: string, session: unknown, event: unknown): string | null {
  if (typeof session !== "string" || session === "") return null;
  const path = pathOf(org, "sessions", session);
  return Number.isInteger(event) || (typeof event === "string" && /^\d+$/.test(event))
    ? `${path}?e=${event as string | number}`
    : path;
}

function columnsOf(org: string, { columns, rows }: QueryResult, narrow: boolean): Column<Row>[] {
  const [session, id] = ["session_id", "id"].map((wanted) => columns.findIndex(({ name }) => name === wanted)) as [
    number,
    number,
  ];
  const pathOfRow = ({ values }: Row) => sessionPath(org, values[session], id < 0 ? null : values[id]);
  return columns.map(({ name, type }, index) => {
    const kind = kindOf(type);
    const links = session >= 0 && (index === session || (index === id && kind === "number"));
    return {
      key: `${index}`,
      label: name,
      sorts: true,
      number: kind === "number",
      width: `${widthOf(name, kind, rows, index)}px`,
      narrow: NARROW[index],
      href: links ? pathOfRow : undefined,
      cell: ({ values }) => (
        <>
          {/* A narrow row has no headers above it. */}
          {narrow && index > 0 && <small class="dim">{name} </small>}
          <Value value={values[index]} type={type} link={links} failing={FAILURES.test(name)} />
        </>
      ),
    };
  });
}

// A count of failures is red where there are some.
const FAILURES = /^(?:failed|failures|errors?|error_count)$/;

interface ValueProps {
  value: unknown;
  type: string;
  link: boolean;
  /** Whether it counts failures. */
  failing: boolean;
}

function Value({ value, type, link, failing }: ValueProps) {
  if (value === null || value === undefined) return <span class="dim">–</span>;
  if (type.includes("DateTime") && momentOf(value) !== null) return <Moment at={value as string} />;
  const text = textOf(value);
  if (kindOf(type) === "number") {
    const short = shortNumber(value);
    return (
      <span
        class={link ? "link" : failing && numberOf(value) ? "err" : undefined}
        title={short === text ? undefined : text}
      >
        {short}
      </span>
    );
  }
  const whole = text.slice(0, SHOWN_LENGTH);
  if (text.length <= SHOWN_LENGTH)
    return (
      <span class={link ? "mono link" : "mono"} title={whole}>
        {whole}
      </span>
    );
  // A row is one line: the row's dialog has the rest.
  return (
    <span class="result-long" title={`shown ${SHOWN_LENGTH} B of ${bytes(text.length)}; the row opens all of it`}>
      <span class={link ? "mono link" : "mono"}>{whole}</span>
      <small class="dim">{bytes(text.length)}</small>
    </span>
  );
}

/** Pixels for the longest of the first values, within bounds. */
function widthOf(name: string, kind: string, rows: readonly (readonly unknown[])[], index: number): number {
  if (kind === "moment") return 160;
  const longest = rows
    .slice(0, 100)
    .reduce((most, row) => Math.max(most, shortNumber(row[index]).length), name.length + 2);
  return Math.min(360, Math.max(80, 32 + longest * 8));
}
