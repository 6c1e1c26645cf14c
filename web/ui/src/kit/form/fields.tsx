// The fields of a form. Each is labelled, and has the server's messages under it.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "../icon";
import type { Choices } from "./choices";
import { Combobox } from "./combobox";
import type { Form } from "./form";

interface FieldProps<V extends object, K extends keyof V> {
  form: Form<V>;
  name: K & string;
  label: string;
  /** A sentence under the label. */
  hint?: ComponentChildren;
  /** The name in a 422, where it differs: "trigger_spec.window". */
  field?: string;
}

interface Parts {
  id: string;
  describedBy: string | undefined;
  invalid: boolean;
}

/** The ids of the texts that describe a control, for `aria-describedby`. */
function describedBy(id: string, hint: ComponentChildren, messages: readonly string[]): string | undefined {
  return [hint ? `${id}-hint` : "", messages.length ? `${id}-error` : ""].filter(Boolean).join(" ") || undefined;
}

/** What the server objects to, under the control that `describedBy` names. */
export function Messages({ id, messages }: { id: string; messages: readonly string[] }) {
  if (!messages.length) return null;
  return (
    <p id={`${id}-error`} class="field-error">
      {messages.join(", ")}
    </p>
  );
}

function Field<V extends object, K extends keyof V>({
  form,
  name,
  label,
  hint,
  field = name,
  children,
}: FieldProps<V, K> & { children: (parts: Parts) => ComponentChildren }) {
  const id = useId();
  const messages = form.errors[field] ?? [];
  return (
    <div class="field" data-field={field}>
      <label for={id}>{label}</label>
      {children({ id, describedBy: describedBy(id, hint, messages), invalid: messages.length > 0 })}
      {hint && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
      <Messages id={id} messages={messages} />
    </div>
  );
}

interface TextProps<V extends object, K extends keyof V> extends FieldProps<V, K> {
  type?: "text" | "email" | "number" | "datetime-local";
  placeholder?: string;
  mono?: boolean;
  rows?: number;
  autofocus?: boolean;
  readOnly?: boolean;
}

/** A text box; with `rows` an area. Values are strings. */
export function TextField<V extends object, K extends keyof V>(props: TextProps<V, K>) {
  const { form, name, type = "text", placeholder, mono, rows, autofocus, readOnly } = props;
  return (
    <Field {...props}>
      {({ id, describedBy, invalid }) => {
        const common = {
          id,
          placeholder,
          autofocus,
          readOnly,
          "aria-describedby": describedBy,
          "aria-invalid": invalid || undefined,
          class: mono ? "input mono" : "input",
          value: `${form.values[name] ?? ""}`,
          autocomplete: "off",
          spellcheck: rows !== undefined && !mono,
        };
        const change = (value: string) => form.set(name, value as V[K]);
        return rows ? (
          <textarea {...common} rows={rows} onInput={(event) => change(event.currentTarget.value)} />
        ) : (
          <input
            {...common}
            type={type === "number" ? "text" : type}
            inputMode={type === "number" ? "decimal" : undefined}
            onInput={(event) => change(event.currentTarget.value)}
          />
        );
      }}
    </Field>
  );
}

interface SelectProps<V extends object, K extends keyof V> extends FieldProps<V, K> {
  choices: Choices | (() => Promise<Choices>);
  several?: boolean;
  typed?: boolean;
  placeholder?: string;
}

/** A combobox. The value is a string, with `several` a list of strings. */
export function SelectField<V extends object, K extends keyof V>(props: SelectProps<V, K>) {
  const { form, name, label, choices, several = false, typed = false, placeholder } = props;
  const value = form.values[name] as unknown as string | string[];
  return (
    <Field {...props}>
      {({ id, describedBy, invalid }) => (
        <>
          <Combobox
            id={id}
            label={label}
            describedBy={describedBy}
            invalid={invalid}
            choices={choices}
            several={several}
            closes
            typed={typed}
            placeholder={placeholder}
            values={Array.isArray(value) ? value : value ? [value] : []}
            onChange={(values) => form.set(name, (several ? values : (values[0] ?? "")) as V[K])}
          />
          {several && (
            <Chosen
              values={value as string[]}
              onRemove={(one) => form.set(name, (value as string[]).filter((other) => other !== one) as V[K])}
            />
          )}
        </>
      )}
    </Field>
  );
}

/** The chosen values of a field, each with the button that removes it. */
function Chosen({ values, onRemove }: { values: readonly string[]; onRemove: (value: string) => void }) {
  if (!values.length) return null;
  return (
    <span class="chosen">
      {values.map((value) => (
        <button
          key={value}
          type="button"
          class="chip"
          aria-label={`Remove ${value}`}
          title={`Remove ${value}`}
          onClick={() => onRemove(value)}
        >
          <b>{value}</b>
          <Icon name="x" class="small" />
        </button>
      ))}
    </span>
  );
}

/** A checkbox beside its label. The value is a boolean. */
export function CheckField<V extends object, K extends keyof V>({
  form,
  name,
  label,
  hint,
  field = name,
}: FieldProps<V, K>) {
  const id = useId();
  const messages = form.errors[field] ?? [];
  return (
    <div class="field check" data-field={field}>
      <label class="check-label">
        <input
          type="checkbox"
          checked={form.values[name] as boolean}
          aria-describedby={describedBy(id, hint, messages)}
          aria-invalid={messages.length > 0 || undefined}
          onChange={(event) => form.set(name, event.currentTarget.checked as V[K])}
        />
        {label}
      </label>
      {hint && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
      <Messages id={id} messages={messages} />
    </div>
  );
}

interface RadioProps<V extends object, K extends keyof V> extends FieldProps<V, K> {
  options: readonly { value: string; label: string; hint?: string }[];
  onChange?: (value: string) => void;
}

/** A radio group. The value is a string. */
export function RadioField<V extends object, K extends keyof V>({
  form,
  name,
  label,
  options,
  field = name,
  onChange,
}: RadioProps<V, K>) {
  const messages = form.errors[field] ?? [];
  const id = useId();
  return (
    <div class="field" data-field={field} role="radiogroup" aria-labelledby={id}>
      <span id={id} class="field-label">
        {label}
      </span>
      <div class="radios">
        {options.map((option) => (
          <label key={option.value} class="radio">
            <input
              type="radio"
              name={id}
              checked={form.values[name] === option.value}
              aria-describedby={describedBy(id, null, messages)}
              aria-invalid={messages.length > 0 || undefined}
              onChange={() => {
                form.set(name, option.value as V[K]);
                onChange?.(option.value);
              }}
            />
            {option.label}
            {option.hint && <small class="dim">{option.hint}</small>}
          </label>
        ))}
      </div>
      <Messages id={id} messages={messages} />
    </div>
  );
}
