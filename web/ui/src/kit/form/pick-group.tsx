import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Messages } from "./fields";

interface Props {
  label: string;
  /** The name in a 422. */
  field: string;
  options: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  hint?: ComponentChildren;
  errors?: readonly string[] | undefined;
}

/** A group of checkboxes. */
export function PickGroup({ label, field, options, chosen, onChange, hint, errors = [] }: Props) {
  const id = useId();
  const toggle = (option: string) =>
    onChange(options.filter((one) => (one === option ? !chosen.includes(one) : chosen.includes(one))));
  return (
    <fieldset class="field" data-field={field}>
      <legend class="field-label">{label}</legend>
      <div class="radios">
        {options.map((option) => (
          <label key={option} class="check-label">
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={() => toggle(option)}
              aria-describedby={errors.length ? `${id}-error` : undefined}
              aria-invalid={errors.length > 0 || undefined}
            />
            {option}
          </label>
        ))}
      </div>
      {hint && <p class="field-hint">{hint}</p>}
      <Messages id={id} messages={errors} />
    </fieldset>
  );
}
