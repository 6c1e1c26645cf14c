import { useEffect, useRef, useState } from "preact/hooks";
import { can } from "../api/session";
import type { QueryRow } from "../api/types";
import type { Described } from "../kit/data/curl";
import { useLoad } from "../kit/data/load";
import { Skeleton } from "../kit/data/loaded";
import { Failed } from "../kit/data/states";
import { Icon } from "../kit/icon";
import { ViewToolbar } from "../kit/list/toolbar";
import { useNarrow } from "../kit/media";
import { Page } from "../kit/page";
import { type ChartFields, type ChartType, fieldsFor } from "../kit/results/model";
import { emptyNote, parametersOf, valuesFor } from "../kit/results/parameters";
import { navigate, param, place, remember, remembered } from "../kit/router";
import { Pill } from "../kit/text/values";
import { pathOf, searchOf, splitValues } from "../kit/url";
import { readQueries, readSchema } from "./api";
import { AddDialog, SaveDialog } from "./dialogs";
import { Editor, type EditorHandle } from "./editor";
import { changedValues, fitsUrl, placeOf, reasonOf, type Typed, viewOf } from "./model";
import { Parameters } from "./parameters";
import { Results } from "./results";
import { SavedQueries } from "./saved";
import { Schema } from "./schema";
import { useRun } from "./use-run";
import { useStatement } from "./use-statement";

interface Props {
  org: string;
  query: QueryRow | null;
  onSaved?: (query: QueryRow) => void;
}

/** "⌘↵" or "Ctrl ↵". */
const RUN_KEY = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘↵" : "Ctrl ↵";

/** The saved values of the parameters, by their numbers. */
function savedValues(query: QueryRow | null): Record<number, string> {
  return Object.fromEntries(
    (query?.params ?? []).map(({ value }, index) => [index + 1, `${(value as string | undefined) ?? ""}`]),
  );
}

/** The request that answers as the page does, for those who may run statements. */
function described(sql: string, typed: Typed, query: QueryRow | null): Described {
  if (can("queries:run")) return { route: "POST /queries/run", body: { sql, params: valuesFor(sql, typed) } };
  return query ? { route: "GET /queries/{query_id}", path: { query_id: query.id } } : { route: "GET /queries" };
}

/** Editor, schema, saved queries and results. */
export function Workbench({ org, query, onSaved }: Props) {
  const statement = useStatement(org, query?.id ?? "", query?.sql_text ?? null, savedValues(query));
  const { sql, typed, revision } = statement;
  const run = useRun();
  const schema = useLoad(`schema ${org}`, readSchema);
  const queries = useLoad(`queries ${org}`, readQueries);
  const editor = useRef<EditorHandle | null>(null);
  const [dialog, setDialog] = useState<"save" | "add" | "save and add" | null>(null);
  const narrow = useNarrow();
  const [aside, setAside] = useState(false);
  const mayRun = can("queries:run");
  const start = () => {
    if (!mayRun) return;
    statement.commit();
    run.start(sql, valuesFor(sql, typed));
  };
  useEffect(() => {
    // A click in the UI runs the statement that it brings, and Back to one that ran. An opened link only shows it.
    if (!mayRun || !statement.ran()) return run.clear();
    statement.commit({ replace: true });
    run.start(sql, valuesFor(sql, typed));
  }, [revision]);
  const changed = query !== null && sql !== query.sql_text;
  const type = (param("chart") ?? "stacked_bar") as ChartType;
  const fields =
    run.result &&
    fieldsFor(run.result, {
      x: param("x") ?? undefined,
      y: splitValues(param("y")),
      series: param("series") ?? undefined,
    });
  const choose = (next: ChartType, { x, y, series }: ChartFields) =>
    statement.show({ chart: next === "stacked_bar" ? null : next, x, y, series });
  const marked = run.error !== null && run.sql === sql ? placeOf(sql, reasonOf(run.error)) : null;
  const add = () => setDialog(query && !changed ? "add" : "save and add");
  const saved = (row: QueryRow) => {
    queries.reload();
    if (row.id === query?.id) onSaved?.(row);
    void navigate(pathOf(org, "sql", row.id) + searchOf(viewOf(place.peek().query)), {
      replace: row.id === query?.id,
      state: { run: run.result !== null, add: dialog === "save and add" },
    });
  };
  useEffect(() => {
    if (!remembered("add")) return;
    remember("add", false);
    setDialog("add");
  }, [query]);
  const numbers = parametersOf(sql);
  const refresh = () => {
    start();
    schema.reload();
    queries.reload();
  };
  const actions = (
    <>
      <ViewToolbar curl={() => described(sql, typed, query)} sql={() => sql} typed={typed} onRefresh={refresh} />
      {can("queries:write") && (
        <button type="button" class="button" onClick={() => setDialog("save")}>
          <Icon name="save" /> Save
        </button>
      )}
      {can("dashboards:write") && ((query && !changed) || can("queries:write")) && (
        <button type="button" class="button" onClick={add}>
          <Icon name="layout-dashboard" /> Add to dashboard
        </button>
      )}
    </>
  );
  const badges = (
    <>
      {query && <span class="soft sql-title">{query.name}</span>}
      {changed && <Pill kind="warn">unsaved changes</Pill>}
      {sql !== query?.sql_text && !fitsUrl(sql) && <span class="dim">Too long for a link: kept in this tab</span>}
    </>
  );
  const controls = (
    <>
      {mayRun && <RunButton busy={run.busy} onRun={start} onCancel={run.cancel} />}
      {(mayRun || can("queries:write")) && (
        <Parameters numbers={numbers} typed={typed} names={query?.params ?? []} onType={statement.type} onRun={start} />
      )}
    </>
  );
  return (
    <Page title="SQL" badges={badges} actions={actions}>
      <div class="sql">
        {narrow && (
          <button type="button" class="button sql-aside-button" aria-expanded={aside} onClick={() => setAside(!aside)}>
            <Icon name="database" /> Tables and saved queries
          </button>
        )}
        {(!narrow || aside) && (
          <div class="sql-aside">
            {schema.error !== null && <Failed error={schema.error} onRetry={schema.reload} />}
            {schema.data === undefined && schema.error === null && <Skeleton />}
            {schema.data && <Schema schema={schema.data} onInsert={(name) => editor.current?.insert(name)} />}
            {queries.error !== null && <Failed error={queries.error} onRetry={queries.reload} />}
            {queries.data && (
              <SavedQueries
                org={org}
                queries={queries.data.queries}
                current={query?.id ?? ""}
                onDeleted={(id) => (id === query?.id ? void navigate(pathOf(org, "sql")) : queries.reload())}
              />
            )}
          </div>
        )}
        <div class="sql-main">
          <Editor
            value={sql}
            revision={revision}
            onChange={statement.change}
            onRun={start}
            schema={schema.data}
            marked={marked}
            handle={editor}
          />
          <Results
            org={org}
            run={run}
            sql={sql}
            controls={controls}
            empty={emptyNote(sql, typed)}
            type={type}
            fields={fields}
            onFields={choose}
            onShow={statement.show}
            onPlace={(place) => editor.current?.focus(place)}
          />
        </div>
      </div>
      {(dialog === "save" || dialog === "save and add") && (
        <SaveDialog sql={sql} typed={typed} query={query} onClose={() => setDialog(null)} onSaved={saved} />
      )}
      {dialog === "add" && query && (
        <AddDialog
          query={query}
          type={param("view") === "chart" ? type : "table"}
          fields={fields}
          bindings={changedValues(typed, savedValues(query))}
          onClose={() => setDialog(null)}
        />
      )}
    </Page>
  );
}

/** The button "Run", which is "Cancel" while a statement runs. */
function RunButton({ busy, onRun, onCancel }: { busy: boolean; onRun: () => void; onCancel: () => void }) {
  return (
    <button type="button" class={busy ? "button" : "button primary"} onClick={busy ? onCancel : onRun}>
      <Icon name={busy ? "x" : "play"} /> {busy ? "Cancel" : "Run"}
      {!busy && <kbd aria-hidden="true">{RUN_KEY}</kbd>}
    </button>
  );
}
