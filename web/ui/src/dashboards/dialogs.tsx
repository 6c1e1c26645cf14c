import { can } from "../api/session";
import type { DashboardRow } from "../api/types";
import { RadioField, TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { announce } from "../kit/overlay/announce";
import { confirm } from "../kit/overlay/dialog";
import { navigate } from "../kit/router";
import { pathOf } from "../kit/url";
import { createDashboard, deleteDashboard, describeDashboard, fillDashboard } from "./api";
import { COSTS } from "./template";

const TEMPLATES = [
  { value: "", label: "Empty" },
  { value: "Costs", label: "Costs", hint: "per day, model, user and version; without a price" },
];

/** The dialog "New dashboard", which leads to the new one. */
export function NewDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const form = useForm({ name: "", template: "" }, async ({ name, template }) => {
    const { id } = await createDashboard(name.trim() || template);
    if (template) await fillDashboard(id, COSTS);
    void navigate(pathOf(org, "dashboards", id));
  });
  return (
    <FormDialog title="New dashboard" verb="Create" form={form} onClose={onClose}>
      <TextField form={form} name="name" label="Name" autofocus placeholder="Airline agent" />
      {can("queries:write") && <RadioField form={form} name="template" label="Template" options={TEMPLATES} />}
    </FormDialog>
  );
}

interface RenameProps {
  dashboard: DashboardRow;
  onClose: () => void;
  onSaved: () => void;
}

/** The dialog "Rename dashboard", for its description too. */
export function RenameDialog({ dashboard, onClose, onSaved }: RenameProps) {
  const form = useForm({ name: dashboard.name, description: dashboard.description }, async ({ name, description }) => {
    await describeDashboard(dashboard, name, description);
    announce(`${name} is saved`);
  });
  return (
    <FormDialog title="Rename dashboard" verb="Save" form={form} onClose={onClose} onDone={onSaved}>
      <TextField form={form} name="name" label="Name" autofocus />
      <TextField form={form} name="description" label="Description" rows={2} />
    </FormDialog>
  );
}

/** Asks, then deletes a dashboard. Resolves to whether it did. */
export async function askAndDelete({ id, name }: DashboardRow): Promise<boolean> {
  const text = "Its tiles go with it. The saved queries stay.";
  if (!(await confirm({ title: `Delete ${name}?`, verb: "Delete", text }))) return false;
  await deleteDashboard(id);
  announce(`${name} is deleted`);
  return true;
}
