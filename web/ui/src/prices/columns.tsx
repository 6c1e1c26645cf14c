import type { PriceRow } from "../api/types";
import { RowActions } from "../kit/list/row-actions";
import type { Column } from "../kit/list/table";
import { CLASSES } from "../kit/prices/words";
import { money } from "../kit/text/money";
import { Moment, Money } from "../kit/text/values";
import { COLUMN_CLASSES, extrasOf } from "./model";

/** The columns of own prices, or of built-in ones, which can be copied. */
export function priceColumns(
  source: "organization" | "builtin",
  mayWrite: boolean,
  edit: (row: Partial<PriceRow>) => void,
  remove: (row: PriceRow) => void,
): Column<PriceRow>[] {
  const columns: Column<PriceRow>[] = [
    {
      key: "model",
      label: "Model",
      narrow: "title",
      cell: ({ model, note }) => (
        <span class="mono" title={note ? `${model}: ${note}` : model}>
          {model}
        </span>
      ),
    },
    {
      key: "provider",
      label: "Provider",
      width: "120px",
      narrow: "note",
      cell: ({ provider }) => provider ?? <span class="dim">any</span>,
    },
    {
      key: "from",
      label: "Valid from",
      width: "136px",
      cell: ({ valid_from }) => (valid_from ? <Moment at={valid_from} /> : <span class="dim">always</span>),
    },
    ...COLUMN_CLASSES.map(
      (name): Column<PriceRow> => ({
        key: name,
        label: CLASSES[name],
        width: "96px",
        number: true,
        cell: ({ prices }) => (
          <>
            <Money value={(prices as Partial<typeof prices>)[name] ?? null} />
            {name === "input" && <span class="narrow-unit"> in, {money(prices.output)} out</span>}
          </>
        ),
        ...(name === "input" && { narrow: "value" }),
      }),
    ),
    { key: "more", label: "Besides", cell: (row) => <Extras row={row} /> },
  ];
  if (!mayWrite) return columns;
  const copy = ({ model, provider, prices, tiers, variants }: PriceRow) =>
    edit({ model, provider, prices, tiers, variants });
  const actions = (row: PriceRow) => (
    <RowActions
      name={row.model}
      actions={
        source === "builtin"
          ? [{ label: "Copy", onClick: () => copy(row) }]
          : [
              { label: "Edit", onClick: () => edit(row) },
              { label: "Delete", onClick: () => remove(row) },
            ]
      }
    />
  );
  return [
    ...columns,
    {
      key: "actions",
      label: "Actions",
      narrow: "state",
      width: source === "builtin" ? "90px" : "160px",
      cell: actions,
    },
  ];
}

function Extras({ row }: { row: PriceRow }) {
  const text = extrasOf(row).join("; ");
  return (
    <span class="soft" title={text}>
      {text}
    </span>
  );
}
