import { readAttributeKeys, readValues } from "../../kit/dimensions/values";
import { ChannelFields } from "../../kit/form/channel-fields";
import { CheckField, RadioField, SelectField, TextField } from "../../kit/form/fields";
import type { Form } from "../../kit/form/form";
import { plural } from "../../kit/text/formats";
import { spans } from "../../kit/time/spans";
import { readFacet, readScoreKeys } from "../api";
import { metricOf, unitText } from "../condition";
import { type Draft, GROUPS, KINDS, METRICS, OPERATORS, PERIODS } from "../model";
import { Conditions } from "./conditions";

const WINDOWS = spans(300, 900, 3600, 14_400, 86_400, 604_800);
const INTERVALS = spans(30, 60, 300, 900, 3600, 86_400);
const SEVERITIES = ["info", "warning", "critical"].map((value) => ({ value, label: value }));

interface Props {
  form: Form<Draft>;
}

/** The rule: what is looked at, and what counts as a breach. The fields depend on the kind of the trigger. */
export function RuleFields({ form }: Props) {
  const isBudget = form.values.trigger_kind === "budget";
  return (
    <div class="alert-part">
      <TextField form={form} name="name" label="Name" placeholder="Tools fail" />
      <RadioField form={form} name="trigger_kind" label="Trigger" options={KINDS} />
      <Trigger form={form} />
      <div class="field-row">
        <SelectField
          form={form}
          name="every"
          field="eval_interval_secs"
          label="Evaluate every"
          choices={INTERVALS}
          typed
        />
        {!isBudget && (
          <>
            <TextField form={form} name="min_breaches" label="Breaches" type="number" />
            <TextField form={form} name="eval_window" label="Evaluations" type="number" />
          </>
        )}
      </div>
      {isBudget ? (
        <p class="field-hint">
          A level opens an incident for the period, which ends with it. Each level tells you once.
        </p>
      ) : (
        <>
          <p class="field-hint">{opening(form.values)}</p>
          <CheckField
            form={form}
            name="auto_resolve"
            field="trigger_spec.auto_resolve"
            label="Resolve by itself"
            hint={resolving(form.values.eval_window)}
          />
        </>
      )}
    </div>
  );
}

function opening({ min_breaches, eval_window }: Draft): string {
  if (Number(eval_window) <= 1) return "Every breach counts: the first one opens an incident.";
  const breaches = plural(Number(min_breaches), "breach", "breaches");
  return `An incident opens after ${breaches} in the last ${eval_window} evaluations.`;
}

function resolving(evaluations: string): string {
  const many = Number(evaluations) > 1 ? `${evaluations} evaluations in a row` : "one evaluation";
  return `The incident ends after ${many} without a breach. Otherwise somebody resolves it.`;
}

/** What happens with a breach: how bad it is, and who gets to know. */
export function NoticeFields({ form }: Props) {
  return (
    <div class="alert-part">
      <RadioField form={form} name="severity" label="Severity" options={SEVERITIES} />
      <ChannelFields form={form} />
      <TextField form={form} name="description" label="Description" rows={2} placeholder="What to do when it fires" />
      <CheckField form={form} name="enabled" label="Enabled" />
    </div>
  );
}

function Trigger({ form }: Props) {
  const kind = form.values.trigger_kind;
  const spec = (name: string) => `trigger_spec.${name}`;
  const window = (
    <SelectField
      form={form}
      name="window"
      field={spec(kind === "per_event" ? "lookback_secs" : "window_secs")}
      label="Window"
      choices={WINDOWS}
      typed
    />
  );
  const comparison = (
    <>
      <SelectField form={form} name="op" field={spec("op")} label="Operator" choices={OPERATORS} />
      <TextField
        form={form}
        name="value"
        field={spec("value")}
        label="Value"
        type="number"
        hint={unitText(metricOf(form.values))}
      />
    </>
  );
  const isFiltered = kind === "metric_threshold" || kind === "budget";
  const filter = (name: string) => spec(isFiltered ? `filter.${name}` : name);
  const environment = (
    <SelectField
      form={form}
      name="environment"
      field={filter("environment")}
      label="Environment"
      choices={() => readFacet("environments")}
      typed
      placeholder="all"
    />
  );
  const agent = (
    <SelectField
      form={form}
      name="agent_id"
      field={filter("agent_id")}
      label="Agent"
      choices={() => readFacet("agent_ids")}
      typed
      placeholder="all"
    />
  );
  const least = (
    <TextField form={form} name="min_count" field={spec("min_count")} label="Evaluations needed" type="number" />
  );
  const score = (
    <SelectField form={form} name="score_key" field={spec("score_key")} label="Score" choices={readScoreKeys} typed />
  );
  const tool = (
    <SelectField
      form={form}
      name="tool_name"
      field={filter("tool_name")}
      label="Tool"
      choices={() => readFacet("tool_names")}
      typed
      placeholder="all"
    />
  );
  const type = (placeholder: string) => (
    <SelectField
      form={form}
      name="event_type"
      field={filter("event_type")}
      label="Event type"
      choices={() => readFacet("event_types")}
      typed
      placeholder={placeholder}
    />
  );
  if (kind === "custom_sql")
    return (
      <>
        <TextField
          form={form}
          name="sql"
          field={spec("sql")}
          label="SQL"
          rows={6}
          mono
          hint="Without a value, any row is a breach. The statement names its own window: ts > now() - INTERVAL 1 HOUR."
        />
        <div class="field-row">{comparison}</div>
      </>
    );
  if (kind === "evaluation_score")
    return (
      <>
        <div class="field-row">
          {score}
          {comparison}
          {window}
        </div>
        <div class="field-row">
          {environment}
          {agent}
          {least}
        </div>
      </>
    );
  if (kind === "eval_compound")
    return (
      <>
        <Conditions form={form} />
        <div class="field-row">
          {window}
          {environment}
          {least}
        </div>
      </>
    );
  if (kind === "per_event")
    return (
      <>
        <div class="field-row">
          {type("error")}
          {window}
          {tool}
        </div>
        <div class="field-row">
          {environment}
          {agent}
          <SelectField
            form={form}
            name="error_type"
            field={spec("error_type")}
            label="Error type"
            choices={() => readFacet("error_types")}
            typed
            placeholder="all"
          />
          <TextField form={form} name="message_contains" field={spec("message_contains")} label="Message contains" />
        </div>
      </>
    );
  const model = (
    <SelectField
      form={form}
      name="model"
      field={filter("model")}
      label="Model"
      choices={() => readFacet("models")}
      typed
      placeholder="all"
    />
  );
  if (kind === "budget")
    return (
      <>
        <BudgetFields form={form} />
        <div class="field-row">
          {model}
          {environment}
          {agent}
        </div>
        <DimensionFields form={form} />
      </>
    );
  return (
    <>
      <div class="field-row">
        <SelectField form={form} name="metric" field={spec("metric")} label="Metric" choices={Object.keys(METRICS)} />
        {comparison}
        {window}
        <GroupField form={form} />
      </div>
      <div class="field-row">
        {type("all")}
        {tool}
        {model}
      </div>
      <div class="field-row">
        {environment}
        {agent}
      </div>
      <DimensionFields form={form} />
    </>
  );
}

/** The groups that have incidents of their own. */
function GroupField({ form }: Props) {
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

function BudgetFields({ form }: Props) {
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
function DimensionFields({ form }: Props) {
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
