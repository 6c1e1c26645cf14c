import { type Options, request } from "../api/request";
import type {
  DashboardList,
  DashboardRow,
  PublishedTables,
  QueryBody,
  QueryList,
  QueryResult,
  QueryRow,
  Statement,
  TileBody,
} from "../api/types";

/** Runs a statement. While four others run it waits and tries again, as it changes nothing. */
export function runStatement(sql: string, params: unknown[], options: Options): Promise<QueryResult> {
  return request("POST /queries/run", { body: { sql, params } }, { retry: true, ...options });
}

/** The statement of a list or an aggregate; `of` is its path below `/v1`, and its query. */
export async function readStatement(of: string, options: Options): Promise<string> {
  const route = `GET ${of}${of.includes("?") ? "&" : "?"}as=sql` as "GET /events";
  // Every such route answers with a statement then.
  return ((await request(route, {}, options)) as unknown as Statement).sql;
}

export function readSchema(options: Options): Promise<PublishedTables> {
  return request("GET /queries/schema", {}, options);
}

export function readQueries(options: Options): Promise<QueryList> {
  return request("GET /queries", {}, options);
}

export function readQuery(query_id: string, options: Options): Promise<QueryRow> {
  return request("GET /queries/{query_id}", { path: { query_id } }, options);
}

export function createQuery(body: QueryBody): Promise<QueryRow> {
  return request("POST /queries", { body });
}

export function replaceQuery(query_id: string, body: QueryBody): Promise<QueryRow> {
  return request("PUT /queries/{query_id}", { path: { query_id }, body });
}

export async function deleteQuery(query_id: string): Promise<void> {
  await request("DELETE /queries/{query_id}", { path: { query_id } });
}

export function readDashboards(): Promise<DashboardList> {
  return request("GET /dashboards", {});
}

export function createDashboard(name: string): Promise<DashboardRow> {
  return request("POST /dashboards", { body: { name } });
}

export async function addTile(dashboard_id: string, body: TileBody): Promise<void> {
  await request("POST /dashboards/{dashboard_id}/tiles", { path: { dashboard_id }, body });
}
