import { type Options, request } from "../api/request";
import type { AlertPreview, IncidentDetail, IncidentRow } from "../api/types";
import { sqlOfFinding, sqlOfRule } from "../kit/data/statements";

const INCIDENT = "GET /alerts/incidents/{incident_id}";

const WEEK_MS = 7 * 86_400_000;

/** The query of the board: open incidents, and those that were resolved in the 7 days before `now`. */
export function boardQuery(now: number) {
  return { state: "firing,acknowledged,resolved", resolved_since: new Date(now - WEEK_MS).toISOString(), limit: 1000 };
}

export function readIncidents(query: ReturnType<typeof boardQuery>, options: Options): Promise<IncidentRow[]> {
  return request("GET /alerts/incidents", { query }, options);
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

export function resolve(incident_id: string, snooze_secs: number) {
  return request("POST /alerts/incidents/{incident_id}/resolve", { path: { incident_id }, body: { snooze_secs } });
}

export function sendAgain(incident_id: string) {
  return request("POST /alerts/incidents/{incident_id}/send-again", { path: { incident_id } });
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

/** The values of the rule of an incident around its breach. */
export function readValues(incident_id: string, options: Options): Promise<AlertPreview> {
  return request("GET /alerts/incidents/{incident_id}/values", { path: { incident_id } }, options);
}

/** The statement that lists what a finding is about. */
export async function readFindingSql(fid: string, options: Options): Promise<string | null> {
  return (
    sqlOfFinding((await request("GET /audits/findings/{fid}", { path: { fid } }, options)).evidence_queries) ?? null
  );
}

/** The statement of a rule in SQL, as the rule is now. */
export async function readRuleSql(alert_id: string, options: Options): Promise<string | null> {
  return sqlOfRule(await request("GET /alerts/{alert_id}", { path: { alert_id } }, options)) ?? null;
}
