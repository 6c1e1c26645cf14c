import { type Options, request } from "../api/request";
import type { UsageOfWindow } from "../api/types";

/** The newest windows, newest first. */
export async function readWindows(options: Options): Promise<UsageOfWindow[]> {
  return (await request("GET /usage/windows", {}, options)).windows;
}
