import type { ComponentChildren } from "preact";
import { Dialog } from "../overlay/dialog";
import { type Form, FormView } from "./form";

interface Props<V extends object> {
  title: string;
  /** The button that saves: "Create key". */
  verb: string;
  form: Form<V>;
  kind?: "wide";
  /** Whether the button waits for something that is not chosen yet. */
  disabled?: boolean;
  onClose: () => void;
  /** Called after the form was saved and the dialog is closed. */
  onDone?: (() => void) | undefined;
  /** The fields. */
  children: ComponentChildren;
}

/** A form in a dialog. It closes once it is saved, and asks before changes are lost. */
export function FormDialog<V extends object>({
  title,
  verb,
  form,
  kind,
  disabled,
  onClose,
  onDone,
  children,
}: Props<V>) {
  const done = () => {
    onClose();
    onDone?.();
  };
  return (
    <Dialog title={title} kind={kind} onClose={onClose} mayClose={form.mayLeave}>
      <FormView form={form} onDone={done}>
        {children}
        <footer class="dialog-foot">
          <button type="submit" class="button primary" disabled={disabled}>
            {verb}
          </button>
        </footer>
      </FormView>
    </Dialog>
  );
}
