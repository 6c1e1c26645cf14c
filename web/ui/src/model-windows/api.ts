import { type Options, request } from "../api/request";
import type { ResolvedWindow, WindowBody, WindowRow } from "../api/types";

/** The windows that the organization set, by model. */
export async function readWindows(options: Options): Promise<WindowRow[]> {
  return (await request("GET /settings/model-context-windows", {}, options)).model_context_windows;
}

/** The window that the next event of a model gets. */
export function resolve(model: string, options: Options): Promise<ResolvedWindow> {
  return request("GET /settings/model-context-windows/resolve", { query: { model } }, options);
}

export async function saveWindow(window: WindowBody): Promise<void> {
  await request("PUT /settings/model-context-windows", { body: window });
}

export async function deleteWindow(model: string): Promise<void> {
  await request("DELETE /settings/model-context-windows", { query: { model } });
}
