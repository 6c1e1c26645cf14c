import { type Options, request } from "../api/request";
import type { Usage, UsageOfWindow } from "../api/types";

/** The usage of the window that holds `start`, null for the current one. */
export function readUsage(start: string | null, options: Options): Promise<Usage> {
  return request("GET /usage", { query: start ? { window_start: start } : {} }, options);
}

/** The newest windows, newest first. */
export async function readWindows(options: Options): Promise<UsageOfWindow[]> {
  return (await request("GET /usage/windows", {}, options)).windows;
}
