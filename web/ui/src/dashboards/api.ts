import { type Options, request } from "../api/request";
import type {
  DashboardDetail,
  DashboardList,
  DashboardRow,
  PlaceBody,
  QueryList,
  QueryResult,
  TileBody,
  TileRow,
} from "../api/types";
import type { Bounds } from "../kit/time/time";
import { freeName, RANGE_PARAMS, savedFor, type TemplateTile } from "./template";

export function readDashboards(options: Options): Promise<DashboardList> {
  return request("GET /dashboards", {}, options);
}

export function readDashboard(dashboard_id: string, options: Options): Promise<DashboardDetail> {
  return request("GET /dashboards/{dashboard_id}", { path: { dashboard_id } }, options);
}

/** Fills a new dashboard. Queries that are saved already are used again. */
export async function fillDashboard(dashboard_id: string, template: readonly TemplateTile[]): Promise<void> {
  const queries = [...(await readQueries({})).queries];
  for (const { name, sql, tile } of template) {
    let query = savedFor(sql, queries);
    if (!query) {
      const body = { name: freeName(name, queries), sql_text: sql, params: RANGE_PARAMS };
      query = await request("POST /queries", { body });
      queries.push(query);
    }
    await saveTile(dashboard_id, null, { ...tile, query_id: query.id, title: name });
  }
}

export function createDashboard(name: string): Promise<DashboardRow> {
  return request("POST /dashboards", { body: { name } });
}

/** Replaces name and description. What other clients keep with the dashboard stays. */
export async function describeDashboard(
  { id, definition }: DashboardRow,
  name: string,
  description: string,
): Promise<void> {
  await request("PUT /dashboards/{dashboard_id}", {
    path: { dashboard_id: id },
    body: { name, description, definition },
  });
}

export async function deleteDashboard(dashboard_id: string): Promise<void> {
  await request("DELETE /dashboards/{dashboard_id}", { path: { dashboard_id } });
}

export function readQueries(options: Options): Promise<QueryList> {
  return request("GET /queries", {}, options);
}

/** Runs a tile. It waits while too many run, as it changes nothing. */
export function runTile({ dashboard_id, id }: TileRow, { from, to }: Bounds, options: Options): Promise<QueryResult> {
  const body = { ...(from && { from }), ...(to && { to }) };
  return request(
    "POST /dashboards/{dashboard_id}/tiles/{tile_id}/run",
    { path: { dashboard_id, tile_id: id }, body },
    { retry: true, ...options },
  );
}

/** Runs the statement of a tile that is not saved yet. */
export function runStatement(sql: string, params: unknown[], options: Options): Promise<QueryResult> {
  return request("POST /queries/run", { body: { sql, params } }, { retry: true, ...options });
}

/** Adds a tile, or replaces the one with that id. */
export async function saveTile(dashboard_id: string, tile_id: string | null, body: TileBody): Promise<void> {
  if (tile_id === null) await request("POST /dashboards/{dashboard_id}/tiles", { path: { dashboard_id }, body });
  else await request("PUT /dashboards/{dashboard_id}/tiles/{tile_id}", { path: { dashboard_id, tile_id }, body });
}

export async function removeTile(dashboard_id: string, tile_id: string): Promise<void> {
  await request("DELETE /dashboards/{dashboard_id}/tiles/{tile_id}", { path: { dashboard_id, tile_id } });
}

export async function saveLayout(dashboard_id: string, tiles: PlaceBody[]): Promise<void> {
  await request("PUT /dashboards/{dashboard_id}/tiles/layout", { path: { dashboard_id }, body: { tiles } });
}
