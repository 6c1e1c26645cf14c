import { type Options, request } from "../api/request";
import type { AlertBody, AlertPreview, AlertRow, DeliveryTest, IncidentRow, PreviewBody } from "../api/types";

export function readAlerts(options: Options): Promise<AlertRow[]> {
  return request("GET /alerts", {}, options);
}

export function readAlert(alert_id: string, options: Options): Promise<AlertRow> {
  return request("GET /alerts/{alert_id}", { path: { alert_id } }, options);
}

export function saveAlert(id: string | null, body: AlertBody): Promise<AlertRow> {
  return id ? request("PUT /alerts/{alert_id}", { path: { alert_id: id }, body }) : request("POST /alerts", { body });
}

export async function deleteAlert(alert_id: string): Promise<void> {
  await request("DELETE /alerts/{alert_id}", { path: { alert_id } });
}

export function sendTest(alert_id: string): Promise<DeliveryTest> {
  return request("POST /alerts/{alert_id}/test", { path: { alert_id }, body: {} });
}

/** Tries a rule on the last 7 days. */
export function preview(body: PreviewBody, options: Options): Promise<AlertPreview> {
  return request("POST /alerts/preview", { body }, { ...options, retry: true });
}

/** The values that events have for a filter. */
export async function readFacet(
  name: "environments" | "agent_ids" | "models" | "tool_names" | "event_types" | "error_types",
): Promise<string[]> {
  return request(`GET /events/${name}`, {});
}

export async function readScoreKeys(): Promise<string[]> {
  return request("GET /evaluations/score_keys", {});
}

/** The open incidents of an alert. */
export function readOpenIncidents(alert_id: string, options: Options): Promise<IncidentRow[]> {
  return request(
    "GET /alerts/{alert_id}/incidents",
    { path: { alert_id }, query: { state: "firing,acknowledged" } },
    options,
  );
}
