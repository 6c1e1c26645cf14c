import { type Options, type Query, request, requestText } from "../api/request";
import type { EventDetail, EventSummary, Outline } from "../api/types";
import type { PageOf } from "../kit/data/load";
import { memberText } from "../kit/text/raw";

export const PAGE_ROWS = 100;
const MOST_CALLS = 20_000;

export async function listEvents(query: Query, options: Options): Promise<PageOf<EventSummary>> {
  const { events, next_cursor } = await request(
    "GET /events/summary",
    { query: { ...query, limit: PAGE_ROWS } as object },
    options,
  );
  return { rows: events, next: next_cursor };
}

export interface EventText {
  /** The payload's text as it was sent. */
  raw: string;
  payload: Record<string, unknown>;
  /** The rest of the row. */
  event: EventSummary & Pick<EventDetail, "cost">;
}

/** An event as text, so that numbers and spaces of its payload stay as they were sent. */
export async function readEvent(session: string, event: string, options: Options): Promise<EventText> {
  const path = { session_id: session, event_id: event as unknown as number };
  const text = await requestText("GET /sessions/{session_id}/events/{event_id}", { path }, options);
  const { payload, ...row } = JSON.parse(text) as EventText["event"] & Pick<EventText, "payload">;
  return { raw: memberText(text, "payload") ?? "{}", payload, event: row };
}

/** The starts and ends around an event, without payloads. */
export function readCalls(
  { session_id, id }: EventSummary,
  types: readonly string[],
  options: Options,
): Promise<Outline> {
  return request(
    "GET /sessions/{session_id}/outline",
    { path: { session_id }, query: { event_type: types.join(","), around: id, limit: MOST_CALLS } },
    options,
  );
}
