import type { FindingRow } from "../api/types";
import { readAddresses } from "../kit/form/channel-fields";
import { SelectField, TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { announce } from "../kit/overlay/announce";
import { act } from "./api";
import type { ActionOf } from "./model";

interface Props {
  finding: FindingRow;
  action: ActionOf;
  onClose: () => void;
  onDone: () => void;
}

/** Asks for the reason of an action, and does it. */
export function ActionDialog({ finding, action: { action, label, about }, onClose, onDone }: Props) {
  const form = useForm({ reason: "", assigned_to: finding.assigned_to ?? "" }, async ({ reason, assigned_to }) => {
    await act(finding.id, {
      action,
      reason: reason || null,
      ...(action === "assign" ? { assigned_to: assigned_to || null } : {}),
    });
    announce(`${label}: ${finding.title}`);
  });
  return (
    <FormDialog title={`${label} ${finding.title}?`} verb={label} form={form} onClose={onClose} onDone={onDone}>
      <p class="dialog-text">{about}</p>
      {action === "assign" && (
        <SelectField
          form={form}
          name="assigned_to"
          label="Assignee"
          choices={readAddresses}
          typed
          placeholder="ada@example.com"
        />
      )}
      <TextField form={form} name="reason" label="Reason" rows={2} autofocus={action !== "assign"} />
    </FormDialog>
  );
}
