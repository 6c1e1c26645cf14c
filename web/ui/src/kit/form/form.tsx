// Forms: labelled fields, the server's errors under theirs, and a question before a change is lost.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/errors";
import { Failed } from "../data/states";
import { confirm } from "../overlay/dialog";
import { guardLeaving } from "../router";

export type Errors = Record<string, string[]>;

export interface Form<V extends object> {
  values: V;
  /** Messages by field, of the last attempt to save. */
  errors: Errors;
  /** Why the last attempt failed, where no field is to blame. */
  error: unknown;
  busy: boolean;
  dirty: boolean;
  set: <K extends keyof V>(name: K, value: V[K]) => void;
  /** Replaces all values, and takes them for saved. */
  reset: (values: V) => void;
  /** Saves. Resolves to whether it succeeded. */
  submit: () => Promise<boolean>;
  /** Asks, if there are changes. For a dialog's `mayClose`. */
  mayLeave: () => Promise<boolean>;
}

function askToLeave(): Promise<boolean> {
  return confirm({ title: "Leave without saving?", verb: "Leave", text: "Your changes are not saved.", danger: true });
}

/** The state of a form. `save` sends the values; a 422 puts its messages under the fields. */
export function useForm<V extends object>(initial: V, save: (values: V) => Promise<void>): Form<V> {
  const [values, setValues] = useState(initial);
  const [saved, setSaved] = useState(initial);
  const [state, setState] = useState<{ errors: Errors; error: unknown; busy: boolean }>({
    errors: {},
    error: null,
    busy: false,
  });
  const dirty = JSON.stringify(values) !== JSON.stringify(saved);
  // A page may navigate as soon as it is saved, so nothing asks from then on.
  const saving = useRef(false);
  const isDirty = useRef(dirty);
  isDirty.current = dirty && !saving.current;
  const mayLeave = async () => !isDirty.current || (await askToLeave());
  useEffect(() => {
    const remove = guardLeaving(mayLeave);
    const warn = (event: BeforeUnloadEvent) => isDirty.current && event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => {
      remove();
      removeEventListener("beforeunload", warn);
    };
  }, []);
  const submit = async () => {
    if (state.busy) return false;
    setState({ errors: {}, error: null, busy: true });
    const sent = values;
    try {
      saving.current = true;
      isDirty.current = false;
      await save(sent);
      setSaved(sent);
      setState({ errors: {}, error: null, busy: false });
      return true;
    } catch (error) {
      saving.current = false;
      isDirty.current = dirty;
      const fields = error instanceof ApiError ? error.fields : {};
      setState({ errors: fields, error: Object.keys(fields).length ? null : error, busy: false });
      return false;
    }
  };
  return {
    ...state,
    values,
    dirty,
    set: (name, value) => {
      saving.current = false;
      setValues((before) => ({ ...before, [name]: value }));
    },
    reset: (next) => {
      setValues(next);
      setSaved(next);
      setState({ errors: {}, error: null, busy: false });
    },
    submit,
    mayLeave,
  };
}

interface FormViewProps<V extends object> extends Omit<JSX.HTMLAttributes<HTMLFormElement>, "form"> {
  form: Form<V>;
  onDone?: (() => void) | undefined;
  children: ComponentChildren;
}

/** The element of a form. Focuses the first field with an error. */
export function FormView<V extends object>({ form, onDone, children, ...rest }: FormViewProps<V>) {
  const element = useRef<HTMLFormElement>(null);
  const named = Object.keys(form.errors);
  const known = (name: string) => element.current?.querySelector(`[data-field="${CSS.escape(name)}"]`);
  useEffect(() => {
    if (named.length) element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [form.errors]);
  const homeless = named.filter((name) => element.current && !known(name));
  return (
    <form
      {...rest}
      ref={element}
      class="form"
      noValidate
      aria-busy={form.busy}
      onSubmit={(event) => {
        event.preventDefault();
        void form.submit().then((done) => done && onDone?.());
      }}
    >
      {children}
      {homeless.length > 0 && (
        <p class="field-error" role="alert">
          {homeless.map((name) => `${name}: ${form.errors[name]!.join(", ")}`).join("; ")}
        </p>
      )}
      {form.error !== null && <Failed error={form.error} />}
    </form>
  );
}
