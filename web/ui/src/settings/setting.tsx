import { useEffect, useState } from "preact/hooks";
import { can } from "../api/session";
import type { SettingRow } from "../api/types";
import { Failed } from "../kit/data/states";
import { CheckField, SelectField, TextField } from "../kit/form/fields";
import { type Form, FormView, useForm } from "../kit/form/form";
import { PickGroup } from "../kit/form/pick-group";
import { announce } from "../kit/overlay/announce";
import { Moment } from "../kit/text/values";
import { readSetNames, saveSetting } from "./api";
import { type Draft, draftOf, hintOf, isList, isSet, secretText, settingOf, valueText } from "./model";

interface Values {
  value: Draft;
}

interface Props {
  row: SettingRow;
  mayWrite: boolean;
  onSaved: (row: SettingRow) => void;
}

/** One setting: its title, its field, and who changed it when. */
export function Setting({ row, mayWrite, onSaved }: Props) {
  const { title, description } = row.schema;
  const form = useForm<Values>({ value: draftOf(row) }, async ({ value }) => {
    onSaved(await saveSetting(row.key, settingOf(row, value)));
    announce(`Saved: ${title}`);
  });
  const [problem, setProblem] = useState<unknown>(null);
  const reset = async () => {
    try {
      onSaved(await saveSetting(row.key, null));
      setProblem(null);
      announce(`Back to the default: ${title}`);
    } catch (error) {
      setProblem(error);
    }
  };
  // What is stored replaces what is shown, except while somebody changes it.
  useEffect(() => {
    if (!form.dirty) form.reset({ value: draftOf(row) });
  }, [row.updated_at, form.dirty]);
  return (
    <div class="setting" role="group" aria-label={title}>
      <div class="setting-text">
        <h3>{title}</h3>
        <p>{description}</p>
        <p class="setting-key">
          <code>{row.key}</code>
          {row.updated_at && (
            <span>
              changed <Moment at={row.updated_at} />
              {row.updated_by && ` by ${row.updated_by}`}
            </span>
          )}
        </p>
      </div>
      {mayWrite ? (
        <FormView form={form}>
          <Field row={row} form={form} />
          <div class="setting-actions">
            {form.dirty && (
              <button type="submit" class="button primary">
                Save
              </button>
            )}
            {isSet(row) && !form.dirty && (
              <button type="button" class="button" onClick={() => void reset()}>
                Use the default
              </button>
            )}
          </div>
          {row.note && <p class="field-hint">{row.note}</p>}
          {problem !== null && <Failed error={problem} />}
        </FormView>
      ) : (
        <p class="setting-value">{row.schema.kind === "secret" ? secretText(row) : valueText(row, row.value)}</p>
      )}
    </div>
  );
}

function Field({ row, form }: { row: SettingRow; form: Form<Values> }) {
  const { kind, title, options } = row.schema;
  const common = { form, name: "value" as const, label: title, hint: hintOf(row) };
  if (kind === "boolean") return <CheckField {...common} />;
  if (kind === "channel_set")
    return (
      <PickGroup
        {...common}
        field="value"
        options={options ?? []}
        chosen={form.values.value as string[]}
        errors={form.errors["value"]}
        onChange={(value) => form.set("value", value)}
      />
    );
  if (kind === "choice") return <SelectField {...common} choices={options ?? []} />;
  if (kind === "permission_set_ref")
    return <SelectField {...common} choices={can("users:read") ? readSetNames : []} typed />;
  if (isList(row)) return <TextField {...common} rows={3} mono />;
  return <TextField {...common} type={kind === "positive_int" ? "number" : "text"} />;
}
