import { useState } from "preact/hooks";
import { can } from "../api/session";
import type { PriceRow } from "../api/types";
import { usePages, useRefresh } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Empty, Failed } from "../kit/data/states";
import { lazy } from "../kit/lazy";
import { clearFilters } from "../kit/list/filters";
import { SearchBox } from "../kit/list/search-box";
import { StatusBar } from "../kit/list/status-bar";
import { Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { announce } from "../kit/overlay/announce";
import { confirm } from "../kit/overlay/dialog";
import { Tabs } from "../kit/overlay/tabs";
import { Page, type PageProps } from "../kit/page";
import { Saved } from "../kit/prices/saved";
import { param, setQuery } from "../kit/router";
import { exact, plural } from "../kit/text/formats";
import { deletePrice, listPrices, PAGE_ROWS, type PriceList } from "./api";
import { priceColumns } from "./columns";
import { RepriceDialog } from "./reprice-dialog";
import { Repricings } from "./repricings-table";
import { TryCall } from "./try";

const PriceDialog = lazy(() => import("../kit/prices/dialog"));

const TABS = [
  { id: "organization", label: "Own" },
  { id: "builtin", label: "Built in" },
];

/** The page "Prices": the organization's own prices, the built-in ones, and a call to try. */
export default function PricesPage({ org }: PageProps) {
  const { turn, refresh } = useRefresh();
  const [edited, setEdited] = useState<Partial<PriceRow> | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const source = param("source") === "builtin" ? "builtin" : "organization";
  const query = { source, model: param("model"), limit: PAGE_ROWS };
  const [builtin, setBuiltin] = useState<PriceList["builtin"] | null>(null);
  const pages = usePages<PriceRow>([org, turn, query], async (cursor, options) => {
    const page = await listPrices({ ...query, cursor }, options);
    setBuiltin(page.builtin);
    return page;
  });
  // A link opens the dialog for a model, as the session page has one.
  const named = param("new");
  const asked = edited ?? (named === null ? null : { model: named, provider: param("provider") });
  const [saved, setSaved] = useState<PriceRow | null>(null);
  const since = param("reprice");
  const mayWrite = can("settings:write");
  const remove = async ({ id, model }: PriceRow) => {
    const text = "Its next calls get another price that fits them, if there is one. Stored calls keep their cost.";
    if (!(await confirm({ title: `Delete ${model}?`, verb: "Delete", text }))) return;
    try {
      await deletePrice(id);
      setProblem(null);
      announce(`The price of ${model} is deleted`);
    } catch (error) {
      setProblem(error);
    }
    refresh();
  };
  const close = () => {
    setEdited(null);
    setQuery({ new: null, provider: null }, { replace: true });
  };
  const actions = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /prices", query })} onRefresh={refresh} />
      {mayWrite && (
        <button type="button" class="button primary" onClick={() => setEdited({})}>
          New price
        </button>
      )}
    </>
  );
  return (
    <Page title="Prices" actions={actions}>
      <p class="prices-about">
        US dollars of a million tokens. A price holds for the next calls of its models; stored calls keep their cost.
      </p>
      {problem !== null && <Failed error={problem} />}
      <Saved row={saved} />
      <TryCall />
      <Repricings org={org} turn={turn} />
      <Tabs
        label="Prices"
        tabs={TABS}
        value={source}
        onChange={(id) => setQuery({ source: id === "builtin" ? id : null })}
        aside={<SearchBox label="Search models" name="model" />}
      >
        <Loaded load={pages}>
          {(rows) =>
            rows.length ? (
              <>
                <Table
                  label={source === "builtin" ? "Built-in prices" : "Own prices"}
                  columns={priceColumns(source, mayWrite, setEdited, remove)}
                  rows={rows}
                  idOf={(row) => row.id}
                  scroll="page"
                  hasMore={pages.hasMore}
                  onMore={pages.more}
                  busy={pages.busy}
                />
                <StatusBar>
                  {`${plural(rows.length, "price")} shown${pages.hasMore ? ", more below" : ""}`}
                  {source === "builtin" && builtin && `, of ${tableText(builtin)}`}
                </StatusBar>
              </>
            ) : (
              <NoPrices />
            )
          }
        </Loaded>
      </Tabs>
      {asked && mayWrite && (
        <PriceDialog
          row={asked}
          onClose={close}
          onSaved={(row) => {
            setSaved(row);
            refresh();
          }}
        />
      )}
      {since !== null && mayWrite && (
        <RepriceDialog
          since={since}
          onClose={() => {
            setQuery({ reprice: null }, { replace: true });
            refresh();
          }}
        />
      )}
    </Page>
  );
}

/** "genai-prices 0.0.45 of 2026-11-20: 2,330 models" */
function tableText({ source, version, as_of, models }: PriceList["builtin"]): string {
  return `${source} ${version} of ${as_of}: ${exact(models)} models`;
}

function NoPrices() {
  if (param("model"))
    return (
      <Empty title="No prices match">
        <button type="button" class="button" onClick={() => clearFilters(["model"])}>
          Clear filters
        </button>
      </Empty>
    );
  return (
    <Empty title="No prices yet">
      <p>Calls have the built-in prices of their models. Set one for a model of your own, or for terms of your own.</p>
    </Empty>
  );
}
