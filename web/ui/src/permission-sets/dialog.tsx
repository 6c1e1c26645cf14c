import type { SetRow } from "../api/types";
import { TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { FOR_PEOPLE, type Permission } from "../kit/form/permission-names";
import { PermissionPicker } from "../kit/form/permission-picker";
import { announce } from "../kit/overlay/announce";
import { changeSet, createSet } from "./api";

interface Props {
  /** null: a new one. */
  set: SetRow | null;
  onClose: () => void;
  onDone: () => void;
}

/** The dialog that makes or changes a set. */
export function SetDialog({ set, onClose, onDone }: Props) {
  const initial = {
    name: set?.name ?? "",
    description: set?.description ?? "",
    permissions: FOR_PEOPLE.filter((token) => set?.permissions.includes(token)),
  };
  const form = useForm(initial, async ({ name, description, permissions }) => {
    await (set ? changeSet(set.name, { description, permissions }) : createSet({ name, description, permissions }));
    announce(`${name} is saved`);
  });
  return (
    <FormDialog
      title={set ? `Edit ${set.name}` : "New permission set"}
      kind="wide"
      verb="Save"
      form={form}
      onClose={onClose}
      onDone={onDone}
    >
      <div class="field-row">
        <TextField
          form={form}
          name="name"
          label="Name"
          autofocus={!set}
          readOnly={set !== null}
          placeholder="on-call"
        />
        <TextField form={form} name="description" label="Description" autofocus={set !== null} />
      </div>
      <PermissionPicker
        label="Permissions"
        tokens={FOR_PEOPLE}
        chosen={form.values.permissions}
        errors={form.errors["permissions"]}
        onChange={(chosen) => form.set("permissions", chosen as Permission[])}
      />
    </FormDialog>
  );
}
