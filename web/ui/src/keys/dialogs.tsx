import { useRef, useState } from "preact/hooks";
import type { KeyRow } from "../api/types";
import { TextField } from "../kit/form/fields";
import { commandFor } from "../kit/form/first-event";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { FOR_KEYS, type KeyPermission } from "../kit/form/permission-names";
import { PermissionPicker } from "../kit/form/permission-picker";
import { newSecret } from "../kit/form/secret";
import { announce } from "../kit/overlay/announce";
import { Dialog } from "../kit/overlay/dialog";
import { CopyButton } from "../kit/text/values";
import { zone } from "../kit/time/zone";
import { changeKey, createKey } from "./api";
import { expiryOf, PRESETS, presetOf } from "./model";

interface NewProps {
  onClose: () => void;
  onCreated: (made: Made) => void;
}

/** The dialog "New key". The secret is made here, and the server keeps only its hash. */
export function NewKeyDialog({ onClose, onCreated }: NewProps) {
  const secret = useRef(newSecret());
  const initial = { name: "", expires_at: "", permissions: [...PRESETS["Collector"]!] };
  const form = useForm(initial, async ({ name, expires_at, permissions }) => {
    await createKey({
      name,
      key: secret.current,
      permissions,
      expires_at: expiryOf(expires_at, zone.peek(), new Date()),
    });
    onCreated({ name, secret: secret.current, sends: permissions.includes("events:add") });
  });
  return (
    <FormDialog title="New key" kind="wide" verb="Create key" form={form} onClose={onClose}>
      <div class="field-row">
        <TextField form={form} name="name" label="Name" autofocus placeholder="airline collector" />
        <TextField
          form={form}
          name="expires_at"
          label="Expires"
          placeholder="never"
          hint={`A date such as 2027-01-31 in ${zone.value}, or a time from now such as 90 d.`}
        />
      </div>
      <PermissionPicker
        label="Permissions"
        tokens={FOR_KEYS}
        chosen={form.values.permissions}
        errors={form.errors["permissions"]}
        onChange={(chosen) => form.set("permissions", chosen as KeyPermission[])}
      >
        <div class="key-presets">
          {Object.entries(PRESETS).map(([name, tokens]) => (
            <button
              key={name}
              type="button"
              class="button small"
              aria-pressed={presetOf(form.values.permissions) === name}
              onClick={() => form.set("permissions", [...tokens])}
            >
              {name}
            </button>
          ))}
        </div>
      </PermissionPicker>
    </FormDialog>
  );
}

/** A secret that was made just now. */
export interface Made {
  name: string;
  secret: string;
  /** Whether the key may send events. */
  sends: boolean;
}

/** Shows a secret, once, and a command that sends an event with it. */
export function SecretDialog({ made: { name, secret, sends }, onClose }: { made: Made; onClose: () => void }) {
  const [command] = useState(() => commandFor("curl", location.origin, secret, new Date()));
  return (
    <Dialog title={`The secret of ${name}`} onClose={onClose}>
      <p class="dialog-text">Copy it now. It is not shown again.</p>
      <div class="key-secret">
        <input
          class="input mono"
          type="text"
          aria-label="Secret"
          readOnly
          autofocus
          value={secret}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton label="Copy secret" text={() => secret} icon={false} />
      </div>
      {sends && (
        <>
          <p class="dialog-text">Try it in a terminal: this sends one event.</p>
          <textarea
            class="input mono key-command"
            aria-label="Command"
            readOnly
            rows={5}
            value={command}
            onFocus={(event) => event.currentTarget.select()}
          />
          <div>
            <CopyButton label="Copy command" text={() => command} icon={false} />
          </div>
        </>
      )}
    </Dialog>
  );
}

interface EditProps {
  row: KeyRow;
  onClose: () => void;
  onSaved: () => void;
}

/** The dialog "Edit permissions". */
export function EditDialog({ row, onClose, onSaved }: EditProps) {
  const known = FOR_KEYS.filter((token) => row.permissions.includes(token));
  const form = useForm<{ permissions: KeyPermission[] }>({ permissions: known }, async ({ permissions }) => {
    await changeKey(row.id, permissions);
    announce(`The permissions of ${row.name} are saved`);
  });
  return (
    <FormDialog
      title={`Permissions of ${row.name}`}
      kind="wide"
      verb="Save"
      form={form}
      onClose={onClose}
      onDone={onSaved}
    >
      <PermissionPicker
        label="Permissions"
        tokens={FOR_KEYS}
        chosen={form.values.permissions}
        errors={form.errors["permissions"]}
        onChange={(chosen) => form.set("permissions", chosen as KeyPermission[])}
      />
    </FormDialog>
  );
}
