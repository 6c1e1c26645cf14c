import { useRef, useState } from "preact/hooks";
import { can } from "../../api/session";
import type { DashboardDetail, QueryRow, TileRow } from "../../api/types";
import { Empty, Failed } from "../../kit/data/states";
import { announce } from "../../kit/overlay/announce";
import { confirm } from "../../kit/overlay/dialog";
import { MenuButton } from "../../kit/overlay/menu";
import { Page } from "../../kit/page";
import { navigate, param } from "../../kit/router";
import { currentRange } from "../../kit/time/zone";
import { pathOf } from "../../kit/url";
import { removeTile } from "../api";
import { askAndDelete, RenameDialog } from "../dialogs";
import { Actions } from "./actions";
import { Grid } from "./grid";
import { Tile } from "./tile";
import { TileDialog } from "./tile-dialog";
import { tileItems } from "./tile-menu";
import { useLayout } from "./use-layout";
import { useTimedRefresh } from "./use-timed-refresh";

interface Props {
  org: string;
  dashboard: DashboardDetail;
  queries: readonly QueryRow[];
  onChanged: () => void;
}

/** A dashboard: its tiles, and the ways to change them. */
export function Dashboard({ org, dashboard, queries, onChanged }: Props) {
  const { id, name, description, tiles } = dashboard;
  const { turn, refresh } = useTimedRefresh(param("refresh") ?? "Off");
  const layout = useLayout(dashboard, onChanged);
  const [dialog, setDialog] = useState<TileRow | "new" | "rename" | null>(null);
  const [tables, setTables] = useState<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = useState<unknown>(null);
  const whole = useRef<HTMLDivElement>(null);
  const range = currentRange("24h");
  const queryOf = (tile: TileRow) => queries.find((query) => query.id === tile.query_id);
  const titleOf = (tile: TileRow) => tile.title || queryOf(tile)?.name || "Untitled";
  const remove = async (tile: TileRow) => {
    const question = { title: `Remove ${titleOf(tile)}?`, verb: "Remove", text: "The saved query stays." };
    if (!(await confirm(question))) return;
    await removeTile(id, tile.id);
    announce(`${titleOf(tile)} is removed`);
    onChanged();
  };
  const removeAll = async () => {
    if (await askAndDelete(dashboard)) await navigate(pathOf(org, "dashboards"));
  };
  const attempt = (action: () => Promise<void>) => void action().then(() => setProblem(null), setProblem);
  const toggle = (tile: TileRow) => {
    const shown = new Set(tables);
    if (!shown.delete(tile.id)) shown.add(tile.id);
    setTables(shown);
  };
  const menu = (tile: TileRow) => {
    const asTable = tables.has(tile.id);
    const on = { edit: () => setDialog(tile), toggle: () => toggle(tile), remove: () => attempt(() => remove(tile)) };
    const items = tileItems({ org, tile, query: queryOf(tile), range, asTable, on });
    return items.length > 0 && <MenuButton label="Tile actions" items={items} class="button ghost small" />;
  };
  const fill = () =>
    void whole.current?.requestFullscreen().catch(() => announce("The browser does not allow full screen here."));
  const actions = (
    <Actions
      id={id}
      layout={layout}
      empty={!tiles.length}
      onRefresh={refresh}
      onFullScreen={fill}
      onAdd={() => setDialog("new")}
      onRename={() => setDialog("rename")}
      onDelete={() => attempt(removeAll)}
    />
  );
  const close = () => setDialog(null);
  return (
    <Page
      title={name}
      actions={actions}
      badges={description && <span class="soft dashboard-about">{description}</span>}
    >
      {(problem ?? layout.error) !== null && <Failed error={problem ?? layout.error} />}
      <div ref={whole} class="dashboard">
        {tiles.length ? (
          <Grid
            tiles={tiles}
            places={layout.places}
            onPlaces={layout.editing ? layout.move : null}
            titleOf={titleOf}
            menu={menu}
          >
            {(tile) => (
              <Tile
                org={org}
                tile={tile}
                title={titleOf(tile)}
                query={queryOf(tile)}
                range={range}
                turn={turn}
                asTable={tables.has(tile.id)}
              />
            )}
          </Grid>
        ) : (
          <Empty title="No tiles yet">
            <p>
              A tile shows a saved query.{" "}
              {can("dashboards:write") && (
                <>
                  Save one on the{" "}
                  <a class="link" href={pathOf(org, "sql")}>
                    SQL page
                  </a>
                  , then add it here.
                </>
              )}
            </p>
          </Empty>
        )}
      </div>
      {dialog === "rename" && <RenameDialog dashboard={dashboard} onClose={close} onSaved={onChanged} />}
      {dialog !== null && dialog !== "rename" && (
        <TileDialog
          dashboard={id}
          tile={dialog === "new" ? null : dialog}
          queries={queries}
          range={range}
          onClose={close}
          onSaved={onChanged}
        />
      )}
    </Page>
  );
}
