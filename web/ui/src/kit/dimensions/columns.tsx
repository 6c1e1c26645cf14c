// The columns that a person adds to a list: whose it is, and what it cost. State: `cols` of the URL.
import { own } from "../data/own";
import { Icon } from "../icon";
import type { Column } from "../list/table";
import { useNarrow } from "../media";
import { MenuButton } from "../overlay/menu";
import { param, setQuery } from "../router";
import { Money } from "../text/values";
import { attributeParam } from "../url";
import { columnLabel, columnsText, shownKeys } from "./shown";

const PARAM = "cols";
const MOST_WIDTH = 220;

interface Row {
  user_id: string | null;
  agent_version: string | null;
  tags: readonly string[];
  attributes: Readonly<Record<string, string>>;
  cost_usd: number | null;
}

/** The keys of the columns that the URL asks for. */
export function shownColumns(standard: readonly string[]): string[] {
  return shownKeys(param(PARAM), standard);
}

interface Props {
  /** The keys of the columns that there are. Those that are shown are offered too. */
  offered: readonly string[];
  /** Those of a URL that names none. */
  standard: readonly string[];
}

/** The button "Columns". */
export function ColumnMenu({ offered, standard }: Props) {
  const shown = shownColumns(standard);
  // Rows of two lines have no room for more.
  if (useNarrow()) return null;
  const toggled = (key: string) => (shown.includes(key) ? shown.filter((one) => one !== key) : [...shown, key]);
  const items = [...new Set([...offered, ...shown])].map((key) => ({
    label: columnLabel(key),
    checked: shown.includes(key),
    onSelect: () => setQuery({ [PARAM]: columnsText(toggled(key), standard) }),
  }));
  return (
    <MenuButton label="Columns" items={items}>
      <Icon name="columns-3" />
    </MenuButton>
  );
}

/** A column of a key. `unpriced` is the number of calls without a price in the cost of a row. */
export function addedColumn<R extends Row>(key: string, unpriced: (row: R) => number): Column<R> {
  const label = columnLabel(key);
  if (key === "cost")
    return {
      key: "cost_usd",
      label,
      width: "88px",
      number: true,
      cell: (row) => <Money value={row.cost_usd} unpriced={unpriced(row)} />,
    };
  const head = (
    <span class="cut" title={label}>
      {label}
    </span>
  );
  // The name of an attribute may be long.
  const width = key.startsWith(attributeParam("")) ? { width: `${Math.min(MOST_WIDTH, 24 + 7 * label.length)}px` } : {};
  return { key, label, head, ...width, cell: (row) => <Value text={textOf(row, key)} /> };
}

function textOf(row: Row, key: string): string | null {
  if (key === "user") return row.user_id;
  if (key === "version") return row.agent_version;
  if (key === "tags") return row.tags.join(", ");
  return own(row.attributes, key.slice(attributeParam("").length)) ?? null;
}

function Value({ text }: { text: string | null }) {
  return text ? <span title={text}>{text}</span> : <span class="dim">–</span>;
}
