import { type Answer, type Options, request } from "../../api/request";
import { joinValues } from "../url";

export type EventRow = Answer<"GET /events/summary">["events"][number];

/** The events with these ids, which are in these sessions, in the order of the ids. Some may be deleted. */
export async function readNamedEvents(
  ids: readonly number[],
  sessions: readonly string[],
  options: Options,
): Promise<EventRow[]> {
  const query = { event_id: ids.join(","), session_id: joinValues(sessions), limit: ids.length };
  const { events } = await request("GET /events/summary", { query }, options);
  return ids.flatMap((id) => events.find((event) => event.id === id) ?? []);
}
