import type { LatencyCall } from "../api/types";
import { Loaded } from "../kit/data/loaded";
import { useQuery } from "../kit/data/query";
import { StatusBar } from "../kit/list/status-bar";
import { type Column, Table } from "../kit/list/table";
import { setQuery } from "../kit/router";
import { plural } from "../kit/text/formats";
import { Duration, Id, Moment, Pill } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { bandNames, type Cell, type Choice, callsQuery, cellParams } from "./model";

interface Props {
  org: string;
  choice: Choice;
  cell: Cell;
  edges: readonly number[];
}

/** The calls of a cell of the heat map or of a name, the longest first. */
export function Calls({ org, choice, cell, edges }: Props) {
  const query = callsQuery(choice, cell, edges);
  const load = useQuery("GET /events/latency_calls", query);
  const columns: Column<LatencyCall>[] = [
    {
      key: "ts",
      label: "Time",
      width: "160px",
      narrow: "state",
      href: ({ session_id, event_id }) => `${pathOf(org, "sessions", session_id)}?e=${event_id}`,
      cell: ({ ts }) => <Moment at={ts} />,
    },
    { key: "key", label: choice.family.noun, narrow: "title", cell: ({ key }) => <span title={key}>{key}</span> },
    {
      key: "latency",
      label: "Duration",
      number: true,
      width: "110px",
      narrow: "value",
      cell: ({ latency_ms }) => <Duration ms={latency_ms} />,
    },
    {
      key: "result",
      label: "Result",
      width: "100px",
      cell: ({ is_error }) => (is_error ? <Pill kind="err">failed</Pill> : ""),
    },
    {
      key: "session",
      label: "Session",
      width: "240px",
      narrow: "note",
      href: ({ session_id }) => pathOf(org, "sessions", session_id),
      cell: ({ session_id }) => <Id value={session_id} />,
    },
  ];
  return (
    <section aria-label="Calls">
      <h2 class="latency-head">
        Calls{cell.name !== null && ` of ${cell.name}`}
        {cell.band !== null && `, ${bandNames(edges)[cell.band]}`}
        {cell.bounds.from && (
          <>
            , from <Moment at={cell.bounds.from} />
          </>
        )}
        {cell.bounds.to && (
          <>
            {" "}
            to <Moment at={cell.bounds.to} />
          </>
        )}{" "}
        <button type="button" class="button small" onClick={() => setQuery(cellParams(null))}>
          Close calls
        </button>
      </h2>
      <Loaded load={load}>
        {({ calls, total }) => (
          <>
            <Table
              label="Calls"
              columns={columns}
              rows={calls}
              idOf={({ session_id, event_id }) => `${session_id} ${event_id}`}
              scroll="page"
            />
            <StatusBar>{`${calls.length} of ${plural(total, "call")} shown, the longest`}</StatusBar>
          </>
        )}
      </Loaded>
    </section>
  );
}
