import { useRef } from "preact/hooks";
import type { QueryRow } from "../api/types";
import { CheckField, SelectField, TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { announce } from "../kit/overlay/announce";
import { CHART_TYPES, type ChartFields, type ChartType } from "../kit/results/model";
import { parametersOf } from "../kit/results/parameters";
import { addTile, createDashboard, createQuery, readDashboards, replaceQuery } from "./api";
import type { Typed } from "./model";

interface SaveProps {
  sql: string;
  /** The typed text of each parameter, by its number. */
  typed: Typed;
  /** The saved query that is in the editor. */
  query: QueryRow | null;
  onClose: () => void;
  onSaved: (query: QueryRow) => void;
}

type SaveValues = { name: string; description: string; copies: boolean } & Record<`name_${number}`, string>;

/** The dialog "Save query". Values of parameters are saved with their names. */
export function SaveDialog({ sql, typed, query, onClose, onSaved }: SaveProps) {
  const numbers = parametersOf(sql);
  const initial: SaveValues = { name: query?.name ?? "", description: query?.description ?? "", copies: false };
  for (const number of numbers) initial[`name_${number}`] = `${query?.params[number - 1]?.["name"] ?? ""}`;
  const saved = useRef<QueryRow | null>(null);
  const form = useForm(initial, async (values) => {
    const params = Array.from({ length: Math.max(0, ...numbers) }, (_, index) => ({
      name: values[`name_${index + 1}`] ?? "",
      value: typed[index + 1] ?? "",
    }));
    const body = { name: values.name, description: values.description, sql_text: sql, params };
    saved.current = query && !values.copies ? await replaceQuery(query.id, body) : await createQuery(body);
    announce(`${saved.current.name} is saved`);
  });
  return (
    <FormDialog title="Save query" verb="Save" form={form} onClose={onClose} onDone={() => onSaved(saved.current!)}>
      <TextField form={form} name="name" label="Name" autofocus placeholder="Tools that fail" />
      <TextField form={form} name="description" label="Description" rows={2} />
      {numbers.length > 0 && (
        <div class="field-row">
          {numbers.map((number) => (
            <TextField
              key={number}
              form={form}
              name={`name_${number}`}
              label={`Name of $${number}`}
              mono
              placeholder="environment"
            />
          ))}
        </div>
      )}
      {numbers.length > 0 && (
        <p class="field-hint">On a dashboard the range of time fills parameters with the names from and to.</p>
      )}
      {query && <CheckField form={form} name="copies" label="As a new query" />}
    </FormDialog>
  );
}

interface AddProps {
  query: QueryRow;
  type: ChartType;
  fields: ChartFields | null;
  /** The values of parameters that differ from those saved with the query. */
  bindings: Typed;
  onClose: () => void;
}

/** Stands for a dashboard that does not exist yet. */
const NEW = "new";

/** The dialog "Add to dashboard". The tile gets the table or chart that the page shows, with its values. */
export function AddDialog({ query, type, fields, bindings, onClose }: AddProps) {
  const made = useRef("");
  const form = useForm(
    { dashboard: "", name: "", title: query.name, chart_type: type as string },
    async ({ dashboard, name, title, chart_type }) => {
      // A second try after an error adds to the dashboard of the first.
      if (dashboard === NEW) made.current ||= (await createDashboard(name)).id;
      await addTile(dashboard === NEW ? made.current : dashboard, {
        query_id: query.id,
        title,
        chart_type: chart_type as ChartType,
        chart_config: fields ? { ...fields } : null,
        param_bindings: { ...bindings },
      });
      announce(`${title || query.name} is on the dashboard`);
    },
  );
  const dashboards = async () => [
    ...(await readDashboards()).dashboards.map(({ id, name }) => ({ value: id, label: name })),
    { value: NEW, label: "New dashboard" },
  ];
  return (
    <FormDialog title="Add to dashboard" verb="Add" form={form} disabled={!form.values.dashboard} onClose={onClose}>
      <SelectField form={form} name="dashboard" label="Dashboard" choices={dashboards} />
      {form.values.dashboard === NEW && <TextField form={form} name="name" label="Name" placeholder="Airline agent" />}
      <SelectField form={form} name="chart_type" label="Chart type" choices={CHART_TYPES} />
      <TextField form={form} name="title" label="Title" />
    </FormDialog>
  );
}
