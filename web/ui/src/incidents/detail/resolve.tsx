import type { IncidentDetail } from "../../api/types";
import { RadioField } from "../../kit/form/fields";
import { useForm } from "../../kit/form/form";
import { FormDialog } from "../../kit/form/form-dialog";
import { announce } from "../../kit/overlay/announce";
import { resolve } from "../api";

const SNOOZES = [
  { value: "0", label: "not at all" },
  { value: "3600", label: "1 h" },
  { value: "28800", label: "8 h" },
  { value: "86400", label: "1 d" },
];

interface Props {
  incident: IncidentDetail;
  onClose: () => void;
  onDone: () => void;
}

/** The dialog that resolves an incident, and lets its alert rest. */
export function ResolveDialog({ incident, onClose, onDone }: Props) {
  const form = useForm({ snooze: "0" }, async ({ snooze }) => {
    await resolve(incident.id, Number(snooze));
    announce("Resolved");
  });
  const after = incident.alert_id ? "Only what happens afterwards opens another one." : "It stays resolved.";
  return (
    <FormDialog title={`Resolve ${incident.title}?`} verb="Resolve" form={form} onClose={onClose} onDone={onDone}>
      <p>{after}</p>
      {incident.alert_id && <RadioField form={form} name="snooze" label="Snooze the alert" options={SNOOZES} />}
    </FormDialog>
  );
}
