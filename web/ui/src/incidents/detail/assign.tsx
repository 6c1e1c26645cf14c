import type { IncidentDetail } from "../../api/types";
import { readAddresses } from "../../kit/form/channel-fields";
import { SelectField } from "../../kit/form/fields";
import { useForm } from "../../kit/form/form";
import { FormDialog } from "../../kit/form/form-dialog";
import { announce } from "../../kit/overlay/announce";
import { assign } from "../api";

interface Props {
  incident: IncidentDetail;
  onClose: () => void;
  onDone: () => void;
}

/** The dialog "Assign". */
export function AssignDialog({ incident, onClose, onDone }: Props) {
  const form = useForm({ assignees: incident.assignees }, async ({ assignees }) => {
    await assign(incident.id, assignees);
    announce(assignees.length ? `Assigned to ${assignees.join(", ")}` : "The assignees are removed");
  });
  return (
    <FormDialog title="Assign" verb="Assign" form={form} onClose={onClose} onDone={onDone}>
      <SelectField
        form={form}
        name="assignees"
        label="Assignees"
        choices={readAddresses}
        several
        typed
        placeholder="ada@example.com"
      />
    </FormDialog>
  );
}
