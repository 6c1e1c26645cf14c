import { type Answer, type Options, type Query, request, requestLines, requestText } from "../../api/request";
import { joinValues } from "../../kit/url";
import type { OutlineAnswer } from "./model/outline";

export type SessionDetail = Answer<"GET /sessions/{session_id}">;
export type Evaluation = NonNullable<SessionDetail["latest_evaluation"]>;

/** Pages but the first; the first one is small, so that rows show early. */
export const PAGE = 20_000;
export const FIRST_PAGE = 2_000;

export async function readOutline(id: string, query: Query, signal: AbortSignal): Promise<OutlineAnswer> {
  return (await request(
    "GET /sessions/{session_id}/outline",
    { path: { session_id: id }, query },
    { signal },
  )) as OutlineAnswer;
}

/** Ids of the events whose payloads hold the text. */
export async function searchPayloads(id: string, text: string, signal: AbortSignal): Promise<Set<number>> {
  const found = new Set<number>();
  let cursor: string | null = null;
  do {
    const page: OutlineAnswer = await readOutline(id, { search: text, columns: "id", limit: 50_000, cursor }, signal);
    for (const event of page.columns.id) found.add(event);
    cursor = page.next_cursor;
  } while (cursor);
  return found;
}

export function readSession(id: string, signal: AbortSignal): Promise<SessionDetail> {
  return request("GET /sessions/{session_id}", { path: { session_id: id } }, { signal });
}

/** The text of an event's row, so that numbers and spaces of its payload stay as they were sent. */
export function readEventText(id: string, event: number, signal?: AbortSignal): Promise<string> {
  const path = { session_id: id, event_id: event };
  return requestText("GET /sessions/{session_id}/events/{event_id}", { path }, { signal });
}

export async function readEvaluations(id: string, signal: AbortSignal): Promise<Evaluation[]> {
  const query = { session_id: id, limit: 200 };
  const { evaluations } = await request("GET /evaluations", { query }, { signal });
  return evaluations;
}

/** The whole session as text: JSON lines, or the object that an evaluator receives. */
export function readExport(id: string, format: "jsonl" | "json"): Promise<string> {
  return requestText("GET /sessions/{session_id}/export", { path: { session_id: id }, query: { format } });
}

/** Gives the events of the session as lines of text, until `take` returns false. */
export function readLines(id: string, take: (line: string) => boolean, signal: AbortSignal): Promise<void> {
  const parts = { path: { session_id: id }, query: { format: "jsonl" as const } };
  return requestLines("GET /sessions/{session_id}/export", parts, take, { signal });
}

export function reEvaluate(id: string) {
  return request("POST /sessions/{session_id}/re-evaluate", { path: { session_id: id } });
}

/** The newest sessions of an agent, to choose from. */
export async function readNewestIds(agent: string, options: Options): Promise<string[]> {
  const { sessions } = await request(
    "GET /sessions",
    { query: { agent_id: joinValues([agent]), limit: 200 } },
    options,
  );
  return sessions.map(({ session_id }) => session_id);
}
