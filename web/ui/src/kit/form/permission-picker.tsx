import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Messages } from "./fields";
import { byNoun } from "./permission-names";

interface Props {
  /** The accessible name of the group. */
  label: string;
  tokens: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** The API's messages about the choice. */
  errors?: readonly string[] | undefined;
  /** What the choice starts from, such as a set: differences to it are marked. */
  base?: readonly string[] | undefined;
  children?: ComponentChildren;
}

/** Checkboxes for permissions, a row for each noun. */
export function PermissionPicker({ label, tokens, chosen, onChange, errors = [], base, children }: Props) {
  const id = useId();
  const toggle = (token: string) =>
    onChange(tokens.filter((one) => (one === token ? !chosen.includes(one) : chosen.includes(one))));
  return (
    <fieldset class="permission-picker" data-field="permissions">
      <legend class="field-label">{label}</legend>
      {children}
      {byNoun(tokens).map((group) => (
        <div key={group.noun} class="permission-row">
          <span class="dim">{group.noun}</span>
          {group.tokens.map((token) => (
            <label key={token} class="check-label">
              <input
                type="checkbox"
                aria-label={token}
                checked={chosen.includes(token)}
                onChange={() => toggle(token)}
                aria-describedby={errors.length ? `${id}-error` : undefined}
                aria-invalid={errors.length > 0 || undefined}
              />
              {token.slice(group.noun.length + 1)}
              {base && <Difference held={base.includes(token)} wanted={chosen.includes(token)} />}
            </label>
          ))}
        </div>
      ))}
      <Messages id={id} messages={errors} />
    </fieldset>
  );
}

function Difference({ held, wanted }: { held: boolean; wanted: boolean }) {
  if (held === wanted) return null;
  return <small class={wanted ? "ok" : "err"}>{wanted ? "added" : "removed"}</small>;
}
