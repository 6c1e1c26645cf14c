import type { EventSummary } from "../api/types";
import { addedColumn } from "../kit/dimensions/columns";
import { EventType } from "../kit/list/event-type";
import type { Column } from "../kit/list/table";
import { Id, Moment } from "../kit/text/values";
import { pathOf } from "../kit/url";

const unpriced = ({ cost_source }: EventSummary) => Number(cost_source === "unpriced");

/**
 * The columns of the table "Events".
 * @param linkTo the address that shows an event beside the list
 * @param added the keys of the columns that the person chose
 * @param tight whether one is shown there, so that the summary needs the room of the others
 */
export function columnsOf(
  org: string,
  linkTo: (event: EventSummary) => string,
  added: readonly string[],
  tight: boolean,
): Column<EventSummary>[] {
  const width = (wide: number, small: number) => `${tight || added.length > 1 ? small : wide}px`;
  return [
    {
      key: "time",
      label: "Time",
      width: width(150, 142),
      narrow: "state",
      href: linkTo,
      cell: ({ ts }) => <Moment at={ts} />,
    },
    {
      key: "type",
      label: "Type",
      width: width(170, 148),
      narrow: "title",
      cell: ({ event_type, is_error }) => <EventType type={event_type} failed={is_error} />,
    },
    {
      key: "agent",
      label: "Agent",
      width: width(150, 118),
      narrow: "value",
      cell: ({ agent_id }) => <span title={agent_id}>{agent_id}</span>,
    },
    {
      key: "session",
      label: "Session",
      width: width(180, 128),
      href: ({ session_id, id }) => `${pathOf(org, "sessions", session_id)}?e=${id}`,
      cell: ({ session_id }) => <Id value={session_id} most={22} />,
    },
    { key: "environment", label: "Environment", width: width(110, 96), cell: ({ environment }) => environment },
    ...added.map((key) => ({ width: width(120, 96), ...addedColumn<EventSummary>(key, unpriced) })),
    {
      key: "summary",
      label: "Summary",
      narrow: "note",
      cell: ({ summary }) => (
        <span class="soft" title={summary}>
          {summary}
        </span>
      ),
    },
  ];
}
