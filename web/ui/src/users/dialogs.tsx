import type { SetRow, UserRow } from "../api/types";
import { SelectField, TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { FOR_PEOPLE } from "../kit/form/permission-names";
import { PermissionPicker } from "../kit/form/permission-picker";
import { mailIsSetUp } from "../kit/mail";
import { announce } from "../kit/overlay/announce";
import { plural } from "../kit/text/formats";
import { changeGrant, invite } from "./api";
import { type Grant, grantOf, grantText, resultOf } from "./model";

interface InviteProps {
  sets: readonly SetRow[];
  onClose: () => void;
  onDone: () => void;
}

/** The dialog "Invite member". Without a set the organization's default holds. */
export function InviteDialog({ sets, onClose, onDone }: InviteProps) {
  const form = useForm({ email: "", permission_set: "" }, async ({ email, permission_set }) => {
    await invite(permission_set ? { email, permission_set } : { email });
    announce(mailIsSetUp() ? `The invitation to ${email} is on its way` : `${email} is a member now`);
  });
  return (
    <FormDialog title="Invite member" verb="Send invitation" form={form} onClose={onClose} onDone={onDone}>
      <TextField
        form={form}
        name="email"
        label="E-mail"
        type="email"
        autofocus
        placeholder="ada@example.com"
        hint={mailIsSetUp() ? null : "Mail is not set up here. Tell them yourself to sign in at this address."}
      />
      <SelectField
        form={form}
        name="permission_set"
        label="Permission set"
        choices={sets.map(({ name, description }) => ({ value: name, note: description }))}
        placeholder="the organization's default"
      />
    </FormDialog>
  );
}

interface GrantProps extends InviteProps {
  row: UserRow;
}

/** The dialog "Edit": a set, what is added to it and taken from it, and what results. */
export function GrantDialog({ row, sets, onClose, onDone }: GrantProps) {
  const initial = {
    permission_set: row.permission_set,
    permission_added: row.permission_added as Grant["permission_added"],
    permission_removed: row.permission_removed as Grant["permission_removed"],
  };
  const form = useForm<Grant>(initial, async (grant) => {
    await changeGrant(row.id, { ...grant, permission_set: grant.permission_set || null });
    announce(`The permissions of ${row.email} are saved`);
  });
  const { values } = form;
  const result = resultOf(sets, values);
  const messages = [...(form.errors["permission_added"] ?? []), ...(form.errors["permission_removed"] ?? [])];
  const choose = (chosen: readonly string[]) => {
    const grant = grantOf(sets, values.permission_set, chosen);
    form.set("permission_added", grant.permission_added);
    form.set("permission_removed", grant.permission_removed);
  };
  return (
    <FormDialog
      title={`Permissions of ${row.email}`}
      kind="wide"
      verb="Save"
      form={form}
      onClose={onClose}
      onDone={onDone}
    >
      <SelectField
        form={form}
        name="permission_set"
        label="Permission set"
        choices={sets.map(({ name, description }) => ({ value: name, note: description }))}
        placeholder="no set"
      />
      <PermissionPicker
        label="Permissions"
        tokens={FOR_PEOPLE}
        chosen={result}
        base={resultOf(sets, { ...values, permission_added: [], permission_removed: [] })}
        errors={messages}
        onChange={choose}
      />
      <p role="status" class="field-hint">
        {`${grantText({ ...values, permission_set: values.permission_set || null })}: `}
        {`${plural(result.length, "permission")} in all`}
      </p>
    </FormDialog>
  );
}
