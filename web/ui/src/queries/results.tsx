import type { ComponentChildren } from "preact";
import { can } from "../api/session";
import type { QueryResult } from "../api/types";
import { Waiting } from "../kit/data/loaded";
import { Icon } from "../kit/icon";
import { useNarrow } from "../kit/media";
import { Tabs } from "../kit/overlay/tabs";
import { ResultChart } from "../kit/results/chart";
import { ChartChoices } from "../kit/results/chart-fields";
import { CHART_TYPES, type ChartFields, type ChartType } from "../kit/results/model";
import { ResultTable } from "../kit/results/table";
import { param } from "../kit/router";
import { csvOf } from "../kit/text/csv";
import { download } from "../kit/text/download";
import { plural } from "../kit/text/formats";
import { CopyButton } from "../kit/text/values";
import type { Changes } from "../kit/url";
import type { Place } from "./model";
import { Refused } from "./refused";
import type { Run } from "./use-run";

const DRAWN = CHART_TYPES.filter((type) => type !== "table");
const TABS = [
  { id: "table", label: "Table" },
  { id: "chart", label: "Chart" },
];
const NARROW_COLUMNS = 4;

interface Props {
  org: string;
  run: Run;
  /** The statement in the editor. */
  sql: string;
  /** Button and parameters, which stand in the same bar. */
  controls: ComponentChildren;
  /** Says which parameters are empty. */
  empty: string;
  type: ChartType;
  fields: ChartFields | null;
  onFields: (type: ChartType, fields: ChartFields) => void;
  /** Changes what the URL says about the view. */
  onShow: (changes: Changes) => void;
  onPlace: (place: Place) => void;
}

/** The region "Results": status, table or chart, and the ways out of the page. */
export function Results({ org, run, sql, controls, empty, type, fields, onFields, onShow, onPlace }: Props) {
  const { result, error } = run;
  const before = (
    <div class="sql-controls">
      {controls}
      <span role="status" class="sql-status">
        {statusOf(run)}
      </span>
    </div>
  );
  if (!can("queries:run"))
    return (
      <section class="sql-results" aria-label="Results">
        {controls}
        <p class="sql-hint">Running a statement takes the permission queries:run.</p>
      </section>
    );
  return (
    <section class="sql-results" aria-label="Results" aria-busy={run.busy}>
      <Tabs
        label="Results"
        class="sql-panel"
        tabs={TABS}
        value={param("view") === "chart" ? "chart" : "table"}
        onChange={(id) => onShow({ view: id === "table" ? null : id })}
        before={before}
        aside={result && <Exports result={result} />}
      >
        <Waiting seconds={run.waiting} />
        {result && !run.busy && run.sql !== sql && (
          <p class="notice" role="status">
            These rows are of an earlier statement. Run this one to see its own.
          </p>
        )}
        {result && <Cut result={result} />}
        {error !== null ? (
          <Refused sql={run.sql} error={error} onPlace={onPlace} />
        ) : !result || !fields ? (
          <p class="sql-hint">{run.busy ? "" : "Run the statement to see its rows here."}</p>
        ) : param("view") === "chart" ? (
          <div class="sql-chart">
            <ChartChoices result={result} types={DRAWN} type={type} fields={fields} onChange={onFields} />
            <ResultChart
              label={`${fields.y.join(", ")} by ${fields.x}`}
              type={type as Exclude<ChartType, "table">}
              fields={fields}
              result={result}
              height={280}
            />
          </div>
        ) : result.rows.length ? (
          <ResultTable
            org={org}
            label="Rows"
            result={result}
            order={param("sort")}
            onOrder={(sort) => onShow({ sort })}
          />
        ) : (
          <section class="state">
            <h2>No rows match</h2>
            {empty && <p>{empty}</p>}
          </section>
        )}
      </Tabs>
    </section>
  );
}

function statusOf({ busy, result, cancelled, error }: Run): string {
  if (busy) return "Running…";
  if (cancelled) return "Cancelled";
  return result && error === null ? `${plural(result.rows.length, "row")} in ${result.elapsed_ms} ms` : "";
}

/** Says what the page does not show of a result. */
function Cut({ result: { truncated, rows, columns } }: { result: QueryResult }) {
  const narrow = useNarrow();
  return (
    <>
      {truncated && (
        <p class="notice warn" role="status">
          Only the first {plural(rows.length, "row")} came. Narrow the condition, or group.
        </p>
      )}
      {narrow && columns.length > NARROW_COLUMNS && (
        <p class="notice">
          {NARROW_COLUMNS} of {columns.length} columns shown. A row opens all of them.
        </p>
      )}
    </>
  );
}

function Exports({ result: { columns, rows } }: { result: QueryResult }) {
  const head = columns.map(({ name }) => name);
  const csv = () => download("query.csv", "text/csv", csvOf(head, rows as Parameters<typeof csvOf>[1]));
  const json = () =>
    JSON.stringify(
      rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index]]))),
      null,
      2,
    );
  return (
    <span class="sql-exports">
      <button type="button" class="button ghost" onClick={csv}>
        <Icon name="download" /> Download CSV
      </button>
      <CopyButton label="Copy JSON" text={json} icon={false} />
    </span>
  );
}
