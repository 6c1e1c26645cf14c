import { type Options, request } from "../api/request";
import type { SettingRow } from "../api/types";

export async function readSettings(options: Options): Promise<SettingRow[]> {
  return (await request("GET /settings", {}, options)).settings;
}

/** Saves a value. null returns to the default. */
export function saveSetting(key: string, value: SettingRow["value"] | null): Promise<SettingRow> {
  return request("PUT /settings/{key}", { path: { key }, body: { value } });
}

/** The names of the organization's permission sets. */
export async function readSetNames(): Promise<string[]> {
  const sets = await request("GET /permission-sets", {});
  return sets.map(({ name }) => name);
}
