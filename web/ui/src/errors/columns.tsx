import type { ErrorGroup, EventSummary } from "../api/types";
import { EventType } from "../kit/list/event-type";
import type { Column } from "../kit/list/table";
import { place } from "../kit/router";
import { percent } from "../kit/text/formats";
import { Count, CountOf, Id, Moment } from "../kit/text/values";
import { changed, pathOf, searchOf, splitValues } from "../kit/url";
import type { Grouping } from "./model";

/** The address of an event in its session. */
export function eventPath(org: string, { session_id, id }: EventSummary): string {
  return `${pathOf(org, "sessions", session_id)}?e=${id}`;
}

/** The columns of the table "Errors". A row leads to its event in the session. */
export function errorColumns(org: string): Column<EventSummary>[] {
  const linkTo = (event: EventSummary) => eventPath(org, event);
  return [
    { key: "time", label: "Time", width: "150px", narrow: "state", href: linkTo, cell: ({ ts }) => <Moment at={ts} /> },
    {
      key: "type",
      label: "Error type",
      width: "150px",
      cell: ({ error_type }) =>
        error_type ? <span title={error_type}>{error_type}</span> : <span class="dim">–</span>,
    },
    {
      key: "event",
      label: "Event",
      width: "150px",
      narrow: "title",
      href: linkTo,
      cell: ({ event_type, is_error }) => <EventType type={event_type} failed={is_error} />,
    },
    {
      key: "agent",
      label: "Agent",
      width: "150px",
      narrow: "value",
      cell: ({ agent_id }) => <span title={agent_id}>{agent_id}</span>,
    },
    {
      key: "session",
      label: "Session",
      width: "180px",
      href: ({ session_id }) => pathOf(org, "sessions", session_id),
      cell: ({ session_id }) => <Id value={session_id} most={22} />,
    },
    { key: "environment", label: "Environment", width: "110px", cell: ({ environment }) => environment },
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

/** The columns of a tab. A name filters the page by itself. */
export function groupColumns({ id, head }: Grouping, total: number): Column<ErrorGroup>[] {
  const linkTo = ({ key }: ErrorGroup) => {
    // No filter is about templates of messages.
    if (key === null || id === "message") return null;
    const { query } = place.value;
    const chosen = splitValues(query.get(id));
    return location.pathname + searchOf(changed(query, { [id]: chosen.includes(key) ? chosen : [...chosen, key] }));
  };
  return [
    {
      key: "name",
      label: head,
      narrow: "title",
      href: linkTo,
      cell: ({ key }) =>
        key === null ? <span class="dim">{id === "message" ? "others" : "none"}</span> : <span title={key}>{key}</span>,
    },
    {
      key: "bar",
      label: "Share",
      width: "30%",
      cell: (group) => (
        <span class="error-share">
          <span class="error-bar" aria-hidden="true">
            <i style={{ width: `${(group.total / Math.max(1, total)) * 100}%` }} />
          </span>
          {percent(group.total / Math.max(1, total))}
        </span>
      ),
    },
    {
      key: "total",
      label: "Errors",
      width: "96px",
      number: true,
      narrow: "value",
      cell: (group) => <CountOf value={group.total} noun="error" />,
    },
    {
      key: "sessions",
      label: "Sessions",
      width: "96px",
      number: true,
      cell: ({ sessions }) => <Count value={sessions} />,
    },
    {
      key: "last",
      label: "Last",
      width: "160px",
      narrow: "note",
      cell: ({ last_ts }) => (
        <span class="soft">
          <Moment at={last_ts} />
        </span>
      ),
    },
  ];
}
