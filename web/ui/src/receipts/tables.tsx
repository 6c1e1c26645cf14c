// The tables of the page, each with the request that fills it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Query } from "../api/request";
import type { OtelService, OtelStatus, Receipt, SkippedRow } from "../api/types";
import { type Pages, usePages } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Nothing } from "../kit/data/nothing";
import { useQuery } from "../kit/data/query";
import { Empty } from "../kit/data/states";
import { CAPTURE_VARIABLE } from "../kit/form/capture";
import { StatusBar } from "../kit/list/status-bar";
import { type Column, Table } from "../kit/list/table";
import { Dialog } from "../kit/overlay/dialog";
import { exact, plural } from "../kit/text/formats";
import { Count, CountOf, Duration, Moment, Pill } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { listReceipts, listSkipped } from "./api";
import { lossOf, senderId, skippedId, unmappedText, WAYS, warnedOf } from "./model";

interface Props {
  /** Names everything that the answer depends on. */
  reads: readonly unknown[];
  query: Query;
}

const nameOf = (row: Receipt) => row.service ?? (row.sender || "unnamed");

const sendersOf = (onReasons: (row: Receipt) => void): Column<Receipt>[] => [
  { key: "sender", label: "Sender", narrow: "title", cell: (row) => <span title={row.sender}>{nameOf(row)}</span> },
  { key: "way", label: "Way in", width: "180px", narrow: "note", cell: (row) => WAYS[row.source] },
  { key: "key", label: "Key", width: "150px", cell: (row) => row.key_name ?? <span class="dim">signed in</span> },
  { key: "machine", label: "Machine", width: "130px", cell: (row) => row.machine_id ?? <span class="dim">–</span> },
  {
    key: "accepted",
    label: "Accepted",
    number: true,
    width: "100px",
    narrow: "value",
    cell: (row) => <CountOf value={row.accepted} noun="event" />,
  },
  { key: "repeated", label: "Repeated", number: true, width: "90px", cell: (row) => <Count value={row.duplicate} /> },
  { key: "lag", label: "Lag, median", number: true, width: "110px", cell: (row) => <Duration ms={row.lag_ms.p50} /> },
  { key: "last", label: "Last request", width: "130px", narrow: "state", cell: (row) => <Moment at={row.last_at} /> },
  { key: "faults", label: "Faults", cell: (row) => <Faults row={row} onOpen={() => onReasons(row)} /> },
];

/** What was not stored is an error; what was warned of is stored. The reasons of both open in a dialog. */
function Faults({ row, onOpen }: { row: Receipt; onOpen: () => void }) {
  const [lost, warned] = [lossOf(row), warnedOf(row)];
  if (!lost && !warned) return <span class="dim">–</span>;
  return (
    <button type="button" class="link" onClick={onOpen}>
      {lost && <span class="err">{lost}</span>}
      {lost && warned && ", "}
      {warned && <span class="warn">{warned}</span>}
    </button>
  );
}

function Reasons({ row, onClose }: { row: Receipt; onClose: () => void }) {
  return (
    <Dialog title={`Faults of ${nameOf(row)}`} onClose={onClose}>
      <ul class="sources-reasons">
        {row.reasons.map(({ reason, count }) => (
          <li key={reason}>
            {exact(count)} × {reason}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** Who sent what, and what became of it. */
export function Senders({ org, reads, query }: Props & { org: string }) {
  const [asked, setAsked] = useState<Receipt | null>(null);
  const pages = usePages<Receipt>(["receipts", ...reads], (cursor, options) =>
    listReceipts({ ...query, cursor }, options),
  );
  const none = (
    <Nothing things="senders" filters={[]} standard="24h">
      The first request with events appears here, with its key and what was skipped.{" "}
      <a class="link" href={pathOf(org, "start")}>
        Send your first event
      </a>
    </Nothing>
  );
  return (
    <>
      <List label="Senders" noun="sender" columns={sendersOf(setAsked)} pages={pages} idOf={senderId} none={none} />
      {asked && <Reasons row={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

const SKIPPED: Column<SkippedRow>[] = [
  { key: "at", label: "When", width: "140px", narrow: "state", cell: (row) => <Moment at={row.at} /> },
  { key: "reason", label: "Reason", narrow: "title", cell: (row) => row.reason },
  { key: "sender", label: "Sender", width: "180px", narrow: "note", cell: (row) => row.service ?? row.sender },
  {
    key: "where",
    label: "Line or span",
    width: "150px",
    narrow: "value",
    cell: (row) => <span class="mono">{row.where}</span>,
  },
  {
    key: "excerpt",
    label: "It begins with",
    cell: (row) => (
      <span class="mono" title={row.excerpt}>
        {row.excerpt}
      </span>
    ),
  },
];

/** Lines and records that were not accepted, with their reasons. */
export function Skipped({ reads, query }: Props) {
  const pages = usePages<SkippedRow>(["skipped", ...reads], (cursor, options) =>
    listSkipped({ ...query, cursor }, options),
  );
  const none = (
    <Empty title="No skipped lines">
      <p>Everything that arrived in the last 7 days was accepted.</p>
    </Empty>
  );
  return <List label="Skipped lines" noun="line" columns={SKIPPED} pages={pages} idOf={skippedId} none={none} />;
}

interface ListProps<Row> {
  label: string;
  noun: string;
  columns: Column<Row>[];
  pages: Pages<Row>;
  idOf: (row: Row) => string;
  none: ComponentChildren;
}

function List<Row>({ label, noun, columns, pages, idOf, none }: ListProps<Row>) {
  return (
    <Loaded load={pages}>
      {(rows) =>
        rows.length ? (
          <>
            <Table
              label={label}
              columns={columns}
              rows={rows}
              idOf={idOf}
              hasMore={pages.hasMore}
              onMore={pages.more}
              busy={pages.busy}
            />
            <StatusBar
              search={false}
            >{`${plural(rows.length, noun)} shown${pages.hasMore ? ", more below" : ""}`}</StatusBar>
          </>
        ) : (
          none
        )
      }
    </Loaded>
  );
}

const SERVICES: Column<OtelService>[] = [
  { key: "name", label: "Service", narrow: "title", cell: (row) => row.name },
  { key: "spans", label: "Spans", number: true, width: "90px", cell: (row) => <Count value={row.spans} /> },
  {
    key: "events",
    label: "Events",
    number: true,
    width: "90px",
    narrow: "value",
    cell: (row) => <CountOf value={row.event_count} noun="event" />,
  },
  { key: "rejected", label: "Rejected", number: true, width: "90px", cell: (row) => <Count value={row.rejected} /> },
  {
    key: "last",
    label: "Last request",
    width: "130px",
    narrow: "state",
    cell: (row) => <Moment at={row.last_received_at} />,
  },
  {
    key: "unmapped",
    label: "Attributes without a rule",
    narrow: "note",
    cell: (row) => unmappedText(row) || <span class="dim">–</span>,
  },
];

/** The services that send by OpenTelemetry, and where exporters have to send. */
export function Services({ turn }: { turn: number }) {
  const load = useQuery("GET /otel/status", {}, turn);
  return (
    <Loaded load={load}>
      {(status) => (
        <>
          <p class="sources-about">
            <Endpoints status={status} />
          </p>
          {status.services
            .filter((one) => one.content_missing)
            .map(({ name }) => (
              <p key={name} class="sources-about">
                <Pill kind="warn">{name}</Pill> sends calls of models without their messages: set{" "}
                <code>{CAPTURE_VARIABLE}</code> where it runs.
              </p>
            ))}
          {status.services.length ? (
            <Table label="OpenTelemetry services" columns={SERVICES} rows={status.services} idOf={(row) => row.name} />
          ) : (
            <Empty title="No services in the last 24 hours">
              <p>Services appear here once they export spans or log records.</p>
            </Empty>
          )}
        </>
      )}
    </Loaded>
  );
}

function Endpoints({ status: { enabled, endpoints } }: { status: OtelStatus }) {
  if (!enabled) return <>OpenTelemetry is switched off for this organization: see "otel.ingest_enabled" in Settings.</>;
  return (
    <>
      HTTP: <code>OTEL_EXPORTER_OTLP_ENDPOINT={endpoints.http}</code>
      {endpoints.grpc && (
        <>
          , gRPC: <code>{endpoints.grpc}</code>
        </>
      )}
    </>
  );
}
