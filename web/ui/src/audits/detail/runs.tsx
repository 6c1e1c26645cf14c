import type { AuditRunRow } from "../../api/types";
import { Empty } from "../../kit/data/states";
import { type Column, Table } from "../../kit/list/table";
import { param } from "../../kit/router";
import { Text } from "../../kit/text/text";
import { Moment } from "../../kit/text/values";
import { pathOf } from "../../kit/url";
import { outcomeText } from "../model";
import { RunState } from "../run-state";

/** The runs of an audit, and the report of the chosen one. */
export function Runs({
  org,
  rows,
  hasMore,
  onMore,
}: {
  org: string;
  rows: readonly AuditRunRow[];
  hasMore: boolean;
  onMore: () => void;
}) {
  const chosen = param("run");
  const shown = rows.find(({ id }) => id === chosen) ?? rows.find(({ report }) => report);
  if (!rows.length)
    return (
      <Empty title="No runs yet">
        <p>The next run is at the time above. “Run now” starts one at once.</p>
      </Empty>
    );
  return (
    <div class="audit-runs">
      {shown && (
        <section class="audit-report" aria-label="Report">
          <h2>
            Report{" "}
            <span class="dim">
              of the run at <Moment at={shown.started_at} />
            </span>
          </h2>
          {shown.report ? (
            <pre>
              <Text>{shown.report}</Text>
            </pre>
          ) : (
            <p class="dim">This run has none. A language model writes them.</p>
          )}
        </section>
      )}
      <Table
        label="Runs"
        columns={columnsOf(org)}
        rows={rows}
        idOf={(row) => row.id}
        selected={shown?.id}
        hasMore={hasMore}
        onMore={onMore}
        scroll="page"
      />
    </div>
  );
}

function columnsOf(org: string): Column<AuditRunRow>[] {
  const findings = (run: AuditRunRow) => (run.findings_count ? `${pathOf(org, "findings")}?run_id=${run.id}` : null);
  return [
    {
      key: "started",
      label: "Started",
      width: "160px",
      narrow: "title",
      cell: (row) => <Moment at={row.started_at} />,
      href: (row) => `?run=${row.id}`,
    },
    {
      key: "state",
      label: "State",
      width: "110px",
      narrow: "value",
      cell: (row) => <RunState status={row.status} error={row.error} />,
    },
    { key: "trigger", label: "Trigger", width: "110px", cell: (row) => row.trigger_kind },
    {
      key: "window",
      label: "Window",
      width: "300px",
      cell: (row) => (
        <>
          <Moment at={row.window_from} /> to <Moment at={row.window_to} />
        </>
      ),
    },
    { key: "read", label: "Read", narrow: "note", cell: (row) => <Outcome run={row} /> },
    {
      key: "findings",
      label: "Findings",
      width: "90px",
      number: true,
      narrow: "state",
      cell: (row) => (
        <>
          {row.findings_count}
          <span class="narrow-unit"> findings</span>
        </>
      ),
      href: findings,
    },
    {
      key: "new",
      label: "New",
      width: "70px",
      number: true,
      cell: (row) => row.new_findings_count,
      href: (row) => (row.new_findings_count ? findings(row) : null),
    },
  ];
}

function Outcome({ run }: { run: AuditRunRow }) {
  const { text, failed } = outcomeText(run);
  return (
    <span class={failed ? "err" : undefined} title={text}>
      <Text>{text}</Text>
    </span>
  );
}
