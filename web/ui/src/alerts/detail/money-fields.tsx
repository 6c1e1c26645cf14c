// The fields of budgets, and of what belongs to a user, a version or another dimension.
import { readAttributeKeys, readValues } from "../../kit/dimensions/values";
import { CheckField, SelectField, TextField } from "../../kit/form/fields";
import type { Form } from "../../kit/form/form";
import { GROUPS, PERIODS } from "../choices";
import type { Draft } from "../model";

interface Props {
  form: Form<Draft>;
}

/** The groups that have incidents of their own. */
export function GroupField({ form }: Props) {
  const choices = async () => [
    ...GROUPS,
    ...(await readAttributeKeys()).map((one) => ({ ...one, value: `attr.${one.value}`, label: one.value })),
  ];
  return (
    <SelectField
      form={form}
      name="group_by"
      field="trigger_spec.group_by"
      label="For each"
      choices={choices}
      typed
      placeholder="all together"
    />
  );
}

/** The amount, the period and the levels of a budget. */
export function BudgetFields({ form }: Props) {
  const field = (name: string) => `trigger_spec.${name}`;
  return (
    <>
      <div class="field-row">
        <TextField
          form={form}
          name="amount"
          field={field("amount_usd")}
          label="Amount"
          type="number"
          placeholder="50"
          hint="US dollars, for each group."
        />
        <SelectField form={form} name="period" field={field("period")} label="Period" choices={PERIODS} />
        <GroupField form={form} />
      </div>
      <div class="field-row">
        <TextField form={form} name="levels" field={field("levels")} label="Levels" hint="Percentages that tell you." />
        <TextField form={form} name="tz" field={field("tz")} label="Time zone" hint="Where its days begin." />
      </div>
      <CheckField
        form={form}
        name="forecast"
        field={field("forecast")}
        label="Forecast"
        hint="It also tells you when the spending is going to pass the amount before the period ends."
      />
    </>
  );
}

/** The filters by whose events they are. */
export function DimensionFields({ form }: Props) {
  const dimension = (name: "user_id" | "agent_version" | "tag", label: string) => (
    <SelectField
      form={form}
      name={name}
      field={`trigger_spec.filter.${name}`}
      label={label}
      choices={() => readValues(name, "")}
      typed
      placeholder="all"
    />
  );
  return (
    <div class="field-row">
      {dimension("user_id", "User")}
      {dimension("agent_version", "Version")}
      {dimension("tag", "Tag")}
      <TextField
        form={form}
        name="attribute"
        field="trigger_spec.filter.attributes"
        label="Attributes"
        placeholder="plan=pro"
      />
    </div>
  );
}
