import type { AuditRow } from "../api/types";
import { ChannelFields } from "../kit/form/channel-fields";
import { CheckField, RadioField, SelectField, TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { announce } from "../kit/overlay/announce";
import { spans } from "../kit/time/spans";
import { readAgents, readEnvironments, saveAudit } from "./api";
import { bodyOf, draftOf, SENSITIVITIES, SIGNALS } from "./model";

const HOUR = 3600;
const DAY = 24 * HOUR;
const EVERY = spans(HOUR, 6 * HOUR, 12 * HOUR, DAY, 7 * DAY);
const BACK = spans(HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 90 * DAY);
const MODES = [
  { value: "since_last", label: "since_last", hint: "events since the last run that succeeded" },
  { value: "fixed", label: "fixed", hint: "a window of always the same length" },
];

interface Props {
  /** null: a new one. */
  audit: AuditRow | null;
  onClose: () => void;
  onSaved: (audit: AuditRow) => void;
}

/** The dialog that makes or changes an audit. */
export function AuditDialog({ audit, onClose, onSaved }: Props) {
  const form = useForm(draftOf(audit), async (draft) => {
    const saved = await saveAudit(audit?.id ?? null, bodyOf(draft));
    announce(`${draft.name} is saved`);
    onSaved(saved);
  });
  return (
    <FormDialog
      title={audit ? `Edit ${audit.name}` : "New audit"}
      kind="wide"
      verb="Save"
      form={form}
      onClose={onClose}
    >
      <TextField form={form} name="name" label="Name" autofocus placeholder="nightly" />
      <TextField form={form} name="description" label="Description" rows={2} />
      <div class="field-row">
        <SelectField
          form={form}
          name="environments"
          field="scope.environments"
          label="Environments"
          choices={readEnvironments}
          several
          typed
          placeholder="all"
        />
        <SelectField
          form={form}
          name="agent_ids"
          field="scope.agent_ids"
          label="Agents"
          choices={readAgents}
          several
          typed
          placeholder="all"
        />
      </div>
      <RadioField
        form={form}
        name="sensitivity"
        label="Sensitivity"
        options={SENSITIVITIES.map((value) => ({ value, label: value }))}
      />
      <div class="field-row">
        <SelectField form={form} name="signals" label="Signals" choices={SIGNALS} several placeholder="all" />
        <SelectField
          form={form}
          name="ignore_error_types"
          label="Ignored error types"
          choices={[]}
          several
          typed
          placeholder="none"
        />
      </div>
      <div class="field-row">
        <SelectField form={form} name="schedule_interval_secs" label="Run every" choices={EVERY} typed />
        <SelectField form={form} name="lookback_window_secs" label="Window" choices={BACK} typed />
        <TextField form={form} name="top_k" label="Findings a run" type="number" />
      </div>
      <RadioField form={form} name="window_mode" label="Window mode" options={MODES} />
      <ChannelFields form={form} />
      <CheckField
        form={form}
        name="llm_enabled"
        label="Write a report"
        hint="If the deployment has a language model."
      />
      <CheckField form={form} name="enabled" label="Enabled" />
    </FormDialog>
  );
}
