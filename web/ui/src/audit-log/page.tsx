import type { Query } from "../api/request";
import type { AuditLogLine } from "../api/types";
import { usePages, useRefresh } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Nothing } from "../kit/data/nothing";
import { useUrlQuery } from "../kit/data/query";
import { type Filter, Filters } from "../kit/list/filters";
import { StatusBar } from "../kit/list/status-bar";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { Dialog } from "../kit/overlay/dialog";
import { Page, type PageProps } from "../kit/page";
import { param, place, setQuery } from "../kit/router";
import { downloadAnswer } from "../kit/text/download";
import { plural } from "../kit/text/formats";
import { Moment } from "../kit/text/values";
import { TimeRange } from "../kit/time/time-range";
import { currentRange } from "../kit/time/zone";
import { changed, pathOf, searchOf } from "../kit/url";
import { exportLines, listLines, PAGE_ROWS } from "./api";
import { type Change, changesOf, NOUNS, WAYS, wayOf, whoOf } from "./model";

const FILTERS: readonly Filter[] = [
  { param: "noun", label: "About", choices: NOUNS },
  { param: "action", label: "Action" },
  { param: "actor", label: "Who", search: true },
  { param: "way", label: "Way", choices: WAYS },
];
const PARAMS = FILTERS.map((filter) => filter.param);

/** The page "Audit log": who changed what, from where. */
export default function AuditLogPage({ org }: PageProps) {
  const { turn, refresh } = useRefresh();
  const query = useUrlQuery(PARAMS, currentRange("all"), turn);
  const pages = usePages<AuditLogLine>([org, turn, query], (cursor, options) =>
    listLines({ ...query, cursor }, options),
  );
  const chosen = pages.data?.find(({ id }) => id === param("line"));
  const linkTo = (line: AuditLogLine) =>
    pathOf(org, "audit-log") + searchOf(changed(place.value.query, { line: line.id }));
  return (
    <Page
      title="Audit log"
      actions={
        <>
          <ViewToolbar
            curl={() => ({ route: "GET /audit-log", query: { ...query, limit: PAGE_ROWS } })}
            onRefresh={refresh}
          />
          <TimeRange standard="all" />
          <button type="button" class="button" onClick={() => void save(query)}>
            Export
          </button>
        </>
      }
    >
      <Filters filters={FILTERS} />
      <Loaded load={pages}>
        {(rows) =>
          rows.length ? (
            <>
              <Table
                label="Audit log"
                columns={columnsOf(linkTo)}
                rows={rows}
                idOf={(row) => row.id}
                selected={param("line")}
                onOpen={(row) => setQuery({ line: row.id })}
                hasMore={pages.hasMore}
                onMore={pages.more}
                busy={pages.busy}
              />
              <StatusBar>{`${plural(rows.length, "line")} shown${pages.hasMore ? ", more below" : ""}`}</StatusBar>
            </>
          ) : (
            <Nothing things="lines" filters={PARAMS} standard="all">
              Every change of access, settings, alerts and audits appears here.
            </Nothing>
          )
        }
      </Loaded>
      {chosen && <Line line={chosen} />}
    </Page>
  );
}

function save(query: Query): Promise<void> {
  return downloadAnswer("audit-log.jsonl", "application/x-ndjson", () => exportLines(query));
}

function columnsOf(linkTo: (line: AuditLogLine) => string): Column<AuditLogLine>[] {
  return [
    { key: "at", label: "When", width: "150px", narrow: "state", cell: (row) => <Moment at={row.at} />, href: linkTo },
    { key: "actor", label: "Who", narrow: "title", cell: whoOf },
    { key: "action", label: "Action", width: "200px", narrow: "value", cell: (row) => row.action },
    { key: "target", label: "What", narrow: "note", cell: (row) => row.target ?? row.target_id ?? "" },
    { key: "way", label: "Way", width: "90px", cell: wayOf },
    { key: "address", label: "From", width: "160px", cell: (row) => row.address ?? <span class="dim">–</span> },
  ];
}

const CHANGES: Column<Change>[] = [
  { key: "field", label: "Field", narrow: "title", cell: (row) => row.field },
  { key: "before", label: "Before", narrow: "value", cell: (row) => <span title={row.before}>{row.before}</span> },
  { key: "after", label: "After", narrow: "note", cell: (row) => <span title={row.after}>{row.after}</span> },
];

/** A line with its values before and after. */
function Line({ line }: { line: AuditLogLine }) {
  const changes = changesOf(line);
  const from = [wayOf(line), line.address, line.request_id && `request ${line.request_id}`].filter(Boolean).join(", ");
  return (
    <Dialog title={line.action} kind="wide" onClose={() => setQuery({ line: null })}>
      <p class="dialog-text">
        {whoOf(line)}, <Moment at={line.at} />, {from}
        {line.target_id && (
          <>
            : {line.target} <span class="mono">{line.target_id}</span>
          </>
        )}
      </p>
      {changes.length > 0 ? (
        <Table label="Changes" columns={CHANGES} rows={changes} idOf={(row) => row.field} scroll="page" />
      ) : (
        <p class="dialog-text">No field differs, or none is recorded.</p>
      )}
    </Dialog>
  );
}
