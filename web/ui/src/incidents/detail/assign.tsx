import type { IncidentDetail } from "../../api/types";
import { announce } from "../../kit/announce";
import { readAddresses } from "../../kit/channel-fields";
import { SelectField } from "../../kit/fields";
import { useForm } from "../../kit/form";
import { FormDialog } from "../../kit/form-dialog";
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
