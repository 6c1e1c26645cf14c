import { useId } from "preact/hooks";
import { Combobox } from "../../kit/form/combobox";
import { Messages, SelectField } from "../../kit/form/fields";
import type { Form } from "../../kit/form/form";
import { Icon } from "../../kit/icon";
import { readScoreKeys } from "../api";
import { OPERATORS } from "../choices";
import type { Condition, Draft } from "../model";

const FIELD = "trigger_spec.conditions";

/** The conditions of a rule about several scores. */
export function Conditions({ form }: { form: Form<Draft> }) {
  const { conditions } = form.values;
  const change = (index: number, changes: Partial<Condition>) =>
    form.set(
      "conditions",
      conditions.map((one, place) => (place === index ? { ...one, ...changes } : one)),
    );
  const combinators = ["any", "all", ...conditions.slice(1).map((_, index) => `at least ${index + 2}`)];
  return (
    <fieldset class="conditions" data-field={FIELD}>
      <legend class="field-label">Conditions</legend>
      {conditions.map((one, index) => (
        <ConditionRow
          key={index}
          index={index}
          condition={one}
          errors={form.errors}
          onChange={(changes) => change(index, changes)}
          onRemove={
            conditions.length > 1
              ? () =>
                  form.set(
                    "conditions",
                    conditions.filter((_, place) => place !== index),
                  )
              : null
          }
        />
      ))}
      <Messages id="conditions" messages={form.errors[FIELD] ?? []} />
      <div>
        <button
          type="button"
          class="button"
          onClick={() => form.set("conditions", [...conditions, { score_key: "", op: "<", value: "" }])}
        >
          Add condition
        </button>
      </div>
      {conditions.length > 1 && (
        <SelectField
          form={form}
          name="combinator"
          field="trigger_spec.combinator"
          label="Breached if these hold"
          choices={combinators}
        />
      )}
    </fieldset>
  );
}

interface RowProps {
  index: number;
  condition: Condition;
  errors: Form<Draft>["errors"];
  onChange: (changes: Partial<Condition>) => void;
  onRemove: (() => void) | null;
}

function ConditionRow({ index, condition: { score_key, op, value }, errors, onChange, onRemove }: RowProps) {
  const id = useId();
  const number = index + 1;
  const of = (name: string) => errors[`${FIELD}.${index}.${name}`] ?? [];
  const invalid = (name: string) => of(name).length > 0;
  const described = (name: string) => (invalid(name) ? `${id}-${name}-error` : undefined);
  return (
    <div class="condition" data-field={`${FIELD}.${index}`}>
      <span data-field={`${FIELD}.${index}.score_key`}>
        <Combobox
          label={`Score ${number}`}
          values={score_key ? [score_key] : []}
          choices={readScoreKeys}
          typed
          placeholder="score"
          invalid={invalid("score_key")}
          describedBy={described("score_key")}
          onChange={([key]) => onChange({ score_key: key ?? "" })}
        />
        <Messages id={`${id}-score_key`} messages={of("score_key")} />
      </span>
      <span data-field={`${FIELD}.${index}.op`}>
        <Combobox
          label={`Operator ${number}`}
          values={[op]}
          choices={OPERATORS}
          invalid={invalid("op")}
          describedBy={described("op")}
          onChange={([next]) => onChange({ op: next ?? ">" })}
        />
        <Messages id={`${id}-op`} messages={of("op")} />
      </span>
      <span data-field={`${FIELD}.${index}.value`}>
        <input
          class="input"
          aria-label={`Value ${number}`}
          inputMode="decimal"
          placeholder="value"
          value={value}
          aria-invalid={invalid("value") || undefined}
          aria-describedby={described("value")}
          onInput={(event) => onChange({ value: event.currentTarget.value })}
        />
        <Messages id={`${id}-value`} messages={of("value")} />
      </span>
      {onRemove && (
        <button
          type="button"
          class="button ghost"
          aria-label={`Remove condition ${number}`}
          title={`Remove condition ${number}`}
          onClick={onRemove}
        >
          <Icon name="x" />
        </button>
      )}
    </div>
  );
}
