import { request, type Options } from "../api/request";
import type { Answer } from "../api/request";
import type { AlertPreview, AlertRow, IncidentDetail, IncidentRow } from "../api/types";
import type { Evidence } from "./model";

const MOST_SECS_A_POINT = 300;
const INCIDENT = "GET /alerts/incidents/{incident_id}";

/** Open incidents, and those that were resolved in the last 7 days are among the newest. */
export async function readIncidents(options: Options): Promise<IncidentRow[]> {
  const [open, resolved] = await Promise.all([
    request("GET /alerts/incidents", { query: { state: "firing,acknowledged", limit: 1000 } }, options),
    request("GET /alerts/incidents", { query: { state: "resolved", limit: 200 } }, options),
  ]);
  return [...open, ...resolved];
}

export function readIncident(incident_id: string, options: Options): Promise<IncidentDetail> {
  return request(INCIDENT, { path: { incident_id } }, options);
}

export function openIncident(body: { title: string; summary: string; severity: "info" | "warning" | "critical" }) {
  return request("POST /alerts/incidents", { body });
}

export function acknowledge(incident_id: string) {
  return request("POST /alerts/incidents/{incident_id}/ack", { path: { incident_id } });
}

export function resolve(incident_id: string) {
  return request("POST /alerts/incidents/{incident_id}/resolve", { path: { incident_id } });
}

export function assign(incident_id: string, assignees: string[]) {
  return request("POST /alerts/incidents/{incident_id}/assign", { path: { incident_id }, body: { assignees } });
}

export function comment(incident_id: string, body: string) {
  return request("POST /alerts/incidents/{incident_id}/comments", { path: { incident_id }, body: { body } });
}

export function deleteComment(incident_id: string, comment_id: string) {
  return request("DELETE /alerts/incidents/{incident_id}/comments/{comment_id}", { path: { incident_id, comment_id } });
}

export function subscribe(incident_id: string, wanted: boolean) {
  const verb = wanted ? "subscribe" : "unsubscribe";
  return request(`POST /alerts/incidents/{incident_id}/${verb}`, { path: { incident_id }, body: {} });
}

export interface Rule {
  alert: AlertRow;
  preview: AlertPreview;
}

/** The rule of an incident, and its values between two moments. */
export async function readRule(alert_id: string, from: string, to: string, options: Options): Promise<Rule> {
  const alert = await request("GET /alerts/{alert_id}", { path: { alert_id } }, options);
  const { trigger_kind, trigger_spec, min_breaches, eval_window } = alert;
  // A rule that is evaluated once a day has values in between, too.
  const eval_interval_secs = Math.min(alert.eval_interval_secs, MOST_SECS_A_POINT);
  const body = { trigger_kind, trigger_spec, min_breaches, eval_window, eval_interval_secs, from, to };
  return { alert, preview: await request("POST /alerts/preview", { body }, options) };
}

export type EventRow = Answer<"GET /events/summary">["events"][number];

const SHOWN_EVENTS = 10;
const MOST_EVENTS = 200;

/** The events that the evidence of an incident is about: the chosen ones in their order, else the newest. */
export async function readEvidence({ query, chosen, sessions }: Pick<Evidence, "query" | "chosen" | "sessions">, options: Options): Promise<EventRow[]> {
  if (!chosen) return (await request("GET /events/summary", { query: { ...query, limit: SHOWN_EVENTS } }, options)).events;
  const { events } = await request("GET /events/summary", { query: { ...query, session_id: sessions.join(","), limit: MOST_EVENTS } }, options);
  return chosen.flatMap((id) => events.find((event) => event.id === id) ?? []);
}
