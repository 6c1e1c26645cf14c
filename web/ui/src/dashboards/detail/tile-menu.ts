import { can } from "../../api/session";
import type { QueryRow, TileRow } from "../../api/types";
import type { MenuItem } from "../../kit/overlay/menu";
import { navigate } from "../../kit/router";
import { boundsOf, type Range } from "../../kit/time/time";
import { pathOf, searchOf } from "../../kit/url";
import { boundTyped } from "../model";

interface Props {
  org: string;
  tile: TileRow;
  query: QueryRow | undefined;
  range: Range;
  asTable: boolean;
  on: Record<"edit" | "toggle" | "remove", () => void>;
}

/** The menu "Tile actions": only what the person may do. */
export function tileItems({ org, tile, query, range, asTable, on }: Props): MenuItem[] {
  const mayWrite = can("dashboards:write");
  const items: (MenuItem | false)[] = [
    mayWrite && { label: "Edit", icon: "pencil", onSelect: on.edit },
    tile.chart_type !== "table" && {
      label: asTable ? "View as chart" : "View as table",
      icon: "table",
      onSelect: on.toggle,
    },
    query !== undefined &&
      can("queries:run") && {
        label: "Open in SQL",
        icon: "database",
        onSelect: () => openInSql(org, tile, query, range),
      },
    mayWrite && { label: "Remove", icon: "trash-2", danger: true, onSelect: on.remove },
  ];
  return items.filter((item) => item !== false);
}

/** Runs the tile's query on the SQL page, with the values that the tile has now. */
function openInSql(org: string, tile: TileRow, query: QueryRow, range: Range): void {
  const typed = boundTyped(query, tile.param_bindings, boundsOf(range, Date.now()), Date.now());
  const values = Object.entries(typed).map(([number, text]) => [`p${number}`, text]);
  void navigate(pathOf(org, "sql", query.id) + searchOf(new URLSearchParams(values)), { state: { run: true } });
}
