import { type Options, request } from "../api/request";
import type { NewSetBody, SetBody, SetRow } from "../api/types";

export function readSets(options: Options): Promise<SetRow[]> {
  return request("GET /permission-sets", {}, options);
}

export function createSet(body: NewSetBody): Promise<SetRow> {
  return request("POST /permission-sets", { body });
}

export function changeSet(name: string, body: SetBody): Promise<SetRow> {
  return request("PUT /permission-sets/{name}", { path: { name }, body });
}

export async function deleteSet(name: string): Promise<void> {
  await request("DELETE /permission-sets/{name}", { path: { name } });
}
