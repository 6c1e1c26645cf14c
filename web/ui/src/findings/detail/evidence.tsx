import { can } from "../../api/session";
import type { FindingRow, Session } from "../../api/types";
import { useLoad } from "../../kit/data/load";
import { readNamedEvents } from "../../kit/data/named-events";
import { type Column, Table } from "../../kit/list/table";
import { Count, Duration, Failures, Id, Moment } from "../../kit/text/values";
import { pathOf } from "../../kit/url";
import { readSessions } from "../api";
import { sessionsText } from "../model";

interface Row {
  id: string;
  /** Not there while it is read, and where the session was deleted. */
  session: Session | undefined;
  /** The newest event in it that shows the finding, if one is known. */
  event: number | undefined;
}

/** The sessions that show a finding, as links. */
export function Evidence({ org, finding }: { org: string; finding: FindingRow }) {
  const { session_ids: ids, event_ids: named } = finding.evidence;
  const wanted = can("evaluations:read") && ids.length > 0;
  const load = useLoad(wanted ? `evidence ${org} ${finding.id} ${ids.join(" ")}` : null, (options) =>
    readSessions(ids, options),
  );
  const read = can("events:read") && named.length > 0;
  const events = useLoad(read ? `evidence events ${org} ${finding.id} ${named.join(" ")}` : null, (options) =>
    readNamedEvents(named, ids, options),
  );
  const rows = ids.map((id) => ({
    id,
    session: load.data?.find(({ session_id }) => session_id === id),
    event: events.data?.find(({ session_id }) => session_id === id)?.id,
  }));
  return (
    <section aria-label="Evidence">
      <h2 class="finding-head">
        Evidence <span class="dim">{sessionsText(finding)}</span>
      </h2>
      <Table
        label="Evidence"
        columns={wanted ? columnsOf(org) : columnsOf(org).slice(0, 1)}
        rows={rows}
        idOf={({ id }) => id}
        busy={load.busy}
        scroll="page"
      />
    </section>
  );
}

function columnsOf(org: string): Column<Row>[] {
  return [
    {
      key: "session",
      label: "Session",
      narrow: "title",
      cell: ({ id }) => <Id value={id} most={40} />,
      href: ({ id, event }) => pathOf(org, "sessions", id) + (event === undefined ? "" : `?e=${event}`),
    },
    {
      key: "environment",
      label: "Environment",
      width: "130px",
      narrow: "note",
      cell: ({ session }) => session?.environment,
    },
    {
      key: "started",
      label: "Started",
      width: "150px",
      narrow: "state",
      cell: ({ session }) => session && <Moment at={session.started_at} />,
    },
    {
      key: "duration",
      label: "Duration",
      width: "110px",
      number: true,
      cell: ({ session }) =>
        session && <Duration ms={Date.parse(session.last_event_at) - Date.parse(session.started_at)} />,
    },
    {
      key: "events",
      label: "Events",
      width: "90px",
      number: true,
      cell: ({ session }) => session && <Count value={session.event_count} />,
    },
    {
      key: "errors",
      label: "Errors",
      width: "90px",
      number: true,
      narrow: "value",
      cell: ({ session }) => session && <Failures value={session.error_count} />,
    },
  ];
}
