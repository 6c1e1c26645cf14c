import { type Options, type Query, request } from "../api/request";
import type { AuditRow, FindingActionBody, FindingRow, QueryResult, Session } from "../api/types";
import type { PageOf } from "../kit/data/load";

export const PAGE_ROWS = 100;

/** A page of the findings that were asked for; `cursor` is the number of rows before it. */
export async function readFindings(
  wanted: Query,
  cursor: string | null,
  options: Options,
): Promise<PageOf<FindingRow>> {
  const offset = Number(cursor ?? 0);
  const rows = await request("GET /audits/findings", { query: { ...wanted, limit: PAGE_ROWS, offset } }, options);
  return { rows, next: rows.length < PAGE_ROWS ? null : `${offset + PAGE_ROWS}` };
}

export function readFinding(fid: string, options: Options): Promise<FindingRow> {
  return request("GET /audits/findings/{fid}", { path: { fid } }, options);
}

export function act(fid: string, body: FindingActionBody) {
  return request("POST /audits/findings/{fid}/status", { path: { fid }, body });
}

export function runQuery(sql: string): Promise<QueryResult> {
  return request("POST /queries/run", { body: { sql } });
}

/** The audits, for the filter by one. */
export function readAudits(options: Options): Promise<AuditRow[]> {
  return request("GET /audits", {}, options);
}

/** The sessions with these ids that still exist. */
export async function readSessions(ids: readonly string[], options: Options): Promise<Session[]> {
  const query = { session_id: ids.join(","), limit: ids.length };
  return (await request("GET /sessions", { query }, options)).sessions;
}
