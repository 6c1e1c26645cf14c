import { CheckField, RadioField, SelectField, TextField } from "../../kit/form/fields";
import type { Form } from "../../kit/form/form";
import { spans } from "../../kit/time/spans";
import { readFacet, readScoreKeys } from "../api";
import { KINDS, METRICS, OPERATORS } from "../choices";
import { metricOf, openingText, resolvingText, unitText } from "../condition";
import type { Draft } from "../model";
import { Conditions } from "./conditions";
import { BudgetFields, DimensionFields, GroupField } from "./money-fields";

const WINDOWS = spans(300, 900, 3600, 14_400, 86_400, 604_800);
const INTERVALS = spans(30, 60, 300, 900, 3600, 86_400);

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
          <p class="field-hint">{openingText(form.values)}</p>
          <CheckField
            form={form}
            name="auto_resolve"
            field="trigger_spec.auto_resolve"
            label="Resolve by itself"
            hint={resolvingText(form.values.eval_window)}
          />
        </>
      )}
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
