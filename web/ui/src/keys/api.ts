import { type Options, request } from "../api/request";
import type { KeyBody, KeyRow } from "../api/types";
import type { KeyPermission } from "../kit/form/permission-names";

export function readKeys(options: Options): Promise<KeyRow[]> {
  return request("GET /keys", {}, options);
}

export function createKey(body: KeyBody): Promise<KeyRow> {
  return request("POST /keys", { body });
}

export function disableKey(key_id: string): Promise<KeyRow> {
  return request("POST /keys/{key_id}/disable", { path: { key_id } });
}

/** Gives the key a new secret, and returns it. */
export async function regenerateKey(key_id: string): Promise<string> {
  return (await request("POST /keys/{key_id}/regenerate", { path: { key_id } })).key;
}

export function changeKey(key_id: string, permissions: KeyPermission[]): Promise<KeyRow> {
  return request("PATCH /keys/{key_id}", { path: { key_id }, body: { permissions } });
}
