import { useState } from "preact/hooks";
import type { Query } from "../api/request";
import { can } from "../api/session";
import type { PriceRow, UnpricedModel } from "../api/types";
import { Loaded } from "../kit/data/loaded";
import { useQuery } from "../kit/data/query";
import { lazy } from "../kit/lazy";
import { RowActions } from "../kit/list/row-actions";
import { type Column, Table } from "../kit/list/table";
import { Saved } from "../kit/prices/saved";
import { reasonText } from "../kit/prices/words";
import { percent } from "../kit/text/formats";
import { Count, CountOf, Moment } from "../kit/text/values";
import { pathOf } from "../kit/url";

const PriceDialog = lazy(() => import("../kit/prices/dialog"));

interface Props {
  org: string;
  query: Query;
  turn: number;
  onPriced: () => void;
}

/** The region "Without a price": models whose calls have no cost, and what sets their price. */
export function Unpriced({ org, query, turn, onPriced }: Props) {
  const load = useQuery("GET /costs/unpriced", query, turn);
  const [priced, setPriced] = useState<UnpricedModel | null>(null);
  const [saved, setSaved] = useState<PriceRow | null>(null);
  return (
    <section class="costs-part" aria-label="Without a price">
      <h2>Without a price</h2>
      <Saved row={saved} />
      <Loaded load={load}>
        {({ models }) =>
          models.length ? (
            <Table
              label="Without a price"
              columns={columnsOf(org, setPriced)}
              rows={models}
              idOf={(row) => JSON.stringify([row.model, row.provider, row.service_tier, row.reason])}
              scroll="page"
            />
          ) : (
            <p class="costs-note">Every call has a cost.</p>
          )
        }
      </Loaded>
      {priced && (
        <PriceDialog
          row={{ model: priced.model ?? "", provider: priced.provider }}
          onClose={() => setPriced(null)}
          onSaved={(row) => {
            setSaved(row);
            onPriced();
          }}
        />
      )}
    </section>
  );
}

function columnsOf(org: string, price: (row: UnpricedModel) => void): Column<UnpricedModel>[] {
  const columns: Column<UnpricedModel>[] = [
    {
      key: "model",
      label: "Model",
      narrow: "title",
      href: ({ example }) => `${pathOf(org, "sessions", example.session_id)}?e=${example.event_id}`,
      cell: ({ model }) => (model === null ? <span class="dim">none</span> : <span title={model}>{model}</span>),
    },
    {
      key: "provider",
      label: "Provider",
      width: "130px",
      cell: ({ provider, service_tier }) =>
        [provider, service_tier].filter(Boolean).join(", ") || <span class="dim">–</span>,
    },
    { key: "reason", label: "Reason", width: "140px", narrow: "note", cell: ({ reason }) => reasonText(reason) },
    {
      key: "calls",
      label: "Calls",
      width: "90px",
      number: true,
      narrow: "value",
      cell: (row) => <CountOf value={row.calls} noun="call" />,
    },
    {
      key: "share",
      label: "Of calls",
      width: "90px",
      number: true,
      cell: ({ share_of_calls }) => percent(share_of_calls),
    },
    {
      key: "tokens",
      label: "Tokens",
      width: "90px",
      number: true,
      cell: (row) => <Count value={row.input_tokens + row.output_tokens} />,
    },
    { key: "last", label: "Last", width: "150px", cell: ({ last_at }) => <Moment at={last_at} /> },
  ];
  if (!can("settings:write")) return columns;
  const actions = (row: UnpricedModel) =>
    row.model !== null &&
    row.reason === "no_price" && (
      <RowActions name={row.model} actions={[{ label: "Set a price", onClick: () => price(row) }]} />
    );
  return [...columns, { key: "actions", label: "Actions", width: "120px", narrow: "state", cell: actions }];
}
