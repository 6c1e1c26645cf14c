import type { QuoteLine } from "../../api/types";
import { type Column, Table } from "../list/table";
import { exact } from "../text/formats";
import { exactMoney } from "../text/money";
import { Money } from "../text/values";
import { CLASSES, unitOf } from "./words";

const COLUMNS: readonly Column<QuoteLine>[] = [
  { key: "class", label: "Class", narrow: "title", cell: (line) => CLASSES[line.class] ?? line.class },
  { key: "quantity", label: "Quantity", number: true, narrow: "note", cell: ({ quantity }) => exact(quantity) },
  {
    key: "rate",
    label: "Rate",
    number: true,
    narrow: "state",
    cell: (line) => (
      <>
        {exactMoney(line.rate)} <span class="dim">/ {unitOf(line.class)}</span>
      </>
    ),
  },
  { key: "amount", label: "Amount", number: true, narrow: "value", cell: (line) => <Money value={line.cost_usd} /> },
];

/** The parts of a call's cost: class, quantity, rate, amount. */
export function Lines({ lines }: { lines: readonly QuoteLine[] }) {
  return <Table label="Lines" columns={COLUMNS} rows={lines} idOf={(line) => line.class} scroll="page" />;
}
