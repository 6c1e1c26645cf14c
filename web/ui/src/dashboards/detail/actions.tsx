import { can } from "../../api/session";
import { Combobox } from "../../kit/form/combobox";
import { ViewToolbar } from "../../kit/list/toolbar";
import { useNarrow } from "../../kit/media";
import { MenuButton, type MenuItem } from "../../kit/overlay/menu";
import { param, setQuery } from "../../kit/router";
import { TimeRange } from "../../kit/time/time-range";
import type { Layout } from "./use-layout";
import { REFRESHES } from "./use-timed-refresh";

interface Props {
  /** The dashboard's id. */
  id: string;
  layout: Layout;
  /** Whether there are no tiles. */
  empty: boolean;
  onRefresh: () => void;
  onFullScreen: () => void;
  onAdd: () => void;
  onRename: () => void;
  onDelete: () => void;
}

/** The controls in the head of a dashboard. While its layout is edited there are only those that end this. */
export function Actions({ id, layout, empty, onRefresh, onFullScreen, onAdd, onRename, onDelete }: Props) {
  const narrow = useNarrow();
  if (layout.editing)
    return (
      <>
        <button type="button" class="button" onClick={layout.discard}>
          Discard
        </button>
        <button type="button" class="button primary" onClick={() => void layout.save()}>
          Save layout
        </button>
      </>
    );
  const refresh = param("refresh") ?? "Off";
  const mayWrite = can("dashboards:write");
  const items: MenuItem[] = [
    ...(mayWrite ? [{ label: "Rename", icon: "pencil" as const, onSelect: onRename }] : []),
    ...(can("dashboards:delete")
      ? [{ label: "Delete", icon: "trash-2" as const, danger: true, onSelect: onDelete }]
      : []),
  ];
  return (
    <>
      <TimeRange standard="24h" />
      <label class="tile-refresh">
        Refresh{" "}
        <Combobox
          label="Refresh"
          values={[refresh]}
          choices={["Off", ...Object.keys(REFRESHES)]}
          onChange={([next]) => setQuery({ refresh: next === "Off" ? null : next })}
        />
      </label>
      <ViewToolbar
        curl={() => ({ route: "GET /dashboards/{dashboard_id}", path: { dashboard_id: id } })}
        onRefresh={onRefresh}
      />
      {items.length > 0 && <MenuButton label="Dashboard actions" items={items} />}
      <button type="button" class="button" onClick={onFullScreen}>
        Full screen
      </button>
      {/* One column has no places to choose. */}
      {mayWrite && !empty && !narrow && (
        <button type="button" class="button" onClick={layout.edit}>
          Edit layout
        </button>
      )}
      {mayWrite && (
        <button type="button" class="button primary" onClick={onAdd}>
          Add tile
        </button>
      )}
    </>
  );
}
