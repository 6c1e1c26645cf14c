import { type Options, request } from "../api/request";
import type { AuditBody, AuditRow, AuditRunRow } from "../api/types";
import type { PageOf } from "../kit/data/load";

const PAGE_ROWS = 50;

export function readAudits(options: Options): Promise<AuditRow[]> {
  return request("GET /audits", {}, options);
}

export function readAudit(audit_id: string, options: Options): Promise<AuditRow> {
  return request("GET /audits/{audit_id}", { path: { audit_id } }, options);
}

/** A page of the runs, newest first; `cursor` is the number of rows before it. */
export async function readRuns(
  audit_id: string,
  cursor: string | null,
  options: Options,
): Promise<PageOf<AuditRunRow>> {
  const offset = Number(cursor ?? 0);
  const rows = await request(
    "GET /audits/{audit_id}/runs",
    { path: { audit_id }, query: { limit: PAGE_ROWS, offset } },
    options,
  );
  return { rows, next: rows.length < PAGE_ROWS ? null : `${offset + PAGE_ROWS}` };
}

export function saveAudit(id: string | null, body: AuditBody): Promise<AuditRow> {
  return id ? request("PUT /audits/{audit_id}", { path: { audit_id: id }, body }) : request("POST /audits", { body });
}

export async function deleteAudit(audit_id: string): Promise<void> {
  await request("DELETE /audits/{audit_id}", { path: { audit_id } });
}

export function runAudit(audit_id: string) {
  return request("POST /audits/{audit_id}/run", { path: { audit_id } });
}

export function readEnvironments(): Promise<string[]> {
  return request("GET /events/environments", {});
}

export function readAgents(): Promise<string[]> {
  return request("GET /events/agent_ids", {});
}
