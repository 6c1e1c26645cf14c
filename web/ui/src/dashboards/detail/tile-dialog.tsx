import { useState } from "preact/hooks";
import { can } from "../../api/session";
import type { QueryResult, QueryRow, TileBody, TileRow } from "../../api/types";
import { useLoad } from "../../kit/data/load";
import { Loaded } from "../../kit/data/loaded";
import { SelectField, TextField } from "../../kit/form/fields";
import { useForm } from "../../kit/form/form";
import { FormDialog } from "../../kit/form/form-dialog";
import { ResultChart } from "../../kit/results/chart";
import { ChartChoices } from "../../kit/results/chart-fields";
import { type ChartFields, type ChartType, fieldsFor } from "../../kit/results/model";
import { parametersOf, valuesFor } from "../../kit/results/parameters";
import { boundsOf, type Range } from "../../kit/time/time";
import { runStatement, saveTile } from "../api";
import { boundTyped, fieldsOf, nameOf, typedFor } from "../model";

interface Props {
  dashboard: string;
  /** The tile that is edited, null for a new one. */
  tile: TileRow | null;
  queries: readonly QueryRow[];
  range: Range;
  onClose: () => void;
  onSaved: () => void;
}

type Bindings = Record<string, string>;

const NOTHING: QueryResult = { columns: [], rows: [], truncated: false, elapsed_ms: 0 };

/** The dialogs "Add tile" and "Edit tile", with the chart as it will be. */
export function TileDialog({ dashboard, tile, queries, range, onClose, onSaved }: Props) {
  const initial = {
    query: tile?.query_id ?? "",
    title: tile?.title ?? "",
    type: (tile?.chart_type ?? "bar") as ChartType,
    fields: fieldsOf(tile?.chart_config ?? {}),
    bindings: (tile?.param_bindings ?? {}) as Bindings,
  };
  const form = useForm(initial, async ({ query: query_id, title, type, fields, bindings }) => {
    // Other clients may keep more with the chart.
    const chart_config = { ...tile?.chart_config, ...fields };
    const body: TileBody = { query_id, title, chart_type: type, chart_config, param_bindings: bindings };
    await saveTile(dashboard, tile?.id ?? null, body);
  });
  const { type, fields: chosen, bindings } = form.values;
  const query = queries.find(({ id }) => id === form.values.query);
  // The preview runs with the values that were typed to their end.
  const [tried, setTried] = useState(bindings);
  const values = () => valuesFor(query!.sql_text, boundTyped(query!, tried, boundsOf(range, Date.now()), Date.now()));
  const load = useLoad(query && can("queries:run") ? [query.id, tried] : null, (options) =>
    runStatement(query!.sql_text, values(), options),
  );
  const result = query && load.current && load.data ? load.data : NOTHING;
  const choose = (next: ChartType, changed: ChartFields) => {
    form.set("type", next);
    if (result !== NOTHING) form.set("fields", changed);
  };
  return (
    <FormDialog
      title={tile ? "Edit tile" : "Add tile"}
      kind="wide"
      verb={tile ? "Save" : "Add"}
      form={form}
      disabled={!query}
      onClose={onClose}
      onDone={onSaved}
    >
      <div class="field-row">
        <SelectField
          form={form}
          name="query"
          field="query_id"
          label="Query"
          choices={queries.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <TextField form={form} name="title" label="Title" placeholder={query?.name ?? ""} />
      </div>
      {!queries.length && <p class="field-hint">There are no saved queries yet. Save one on the SQL page first.</p>}
      {query && (
        <Values
          query={query}
          bindings={bindings}
          onType={(next) => form.set("bindings", next)}
          onDone={() => setTried(bindings)}
        />
      )}
      <ChartChoices result={result} type={type} fields={fieldsFor(result, chosen)} onChange={choose} />
      {query && (
        <Loaded load={load} class="tile-preview">
          {(rows) =>
            type !== "table" &&
            rows.rows.length > 0 && (
              <ResultChart label="Preview" type={type} fields={fieldsFor(rows, chosen)} result={rows} height={180} />
            )
          }
        </Loaded>
      )}
    </FormDialog>
  );
}

interface ValuesProps {
  query: QueryRow;
  bindings: Bindings;
  onType: (bindings: Bindings) => void;
  /** Called when a value was typed to its end. */
  onDone: () => void;
}

/** A text box for each parameter that the range does not fill. */
function Values({ query, bindings, onType, onDone }: ValuesProps) {
  const free = parametersOf(query.sql_text).filter((number) => !["from", "to"].includes(nameOf(query, number)));
  if (!free.length) return null;
  const typed = typedFor(query, bindings);
  return (
    <div class="field-row">
      {free.map((number) => (
        <label key={number} class="field">
          <span>
            Parameter {number}{" "}
            <span class="dim" aria-hidden="true">
              {nameOf(query, number)}
            </span>
          </span>
          <input
            type="text"
            class="input mono"
            aria-label={`Parameter ${number}`}
            autocomplete="off"
            spellcheck={false}
            value={typed[number] ?? ""}
            onInput={(event) => onType({ ...bindings, [number]: event.currentTarget.value })}
            onChange={onDone}
          />
        </label>
      ))}
    </div>
  );
}
