import { session } from "../api/session";
import { Combobox } from "../kit/form/combobox";
import { Page } from "../kit/page";
import { type Preferences, prefer, preferences } from "../kit/preferences";
import { formatFully, isZone, zoneName } from "../kit/time/time";
import { ZONE_CHOICES } from "../kit/time/zone";
import { Sessions } from "./sessions";

const THEMES = { system: "System", light: "Light", dark: "Dark" } as const;
const DENSITIES = { comfortable: "Comfortable", compact: "Compact" } as const;

/** The page "Profile". Choices hold at once, and stay in this browser. */
export default function ProfilePage() {
  const { zone, theme, density, singleKeys } = preferences.value;
  const person = session.value;
  return (
    <Page title="Profile">
      <div class="profile form">
        {person && <p>Signed in as {person.email}</p>}
        <div class="field">
          <label for="profile-zone">Time zone</label>
          <Combobox
            id="profile-zone"
            label="Time zone"
            values={[zone]}
            choices={ZONE_CHOICES}
            typed
            onChange={([next]) => next && isZone(next) && prefer({ zone: next })}
          />
          <p class="field-hint">Now: {formatFully(new Date(), zoneName(zone))}</p>
        </div>
        <Choice label="Theme" options={THEMES} value={theme} onChange={(next) => prefer({ theme: next })} />
        <Choice label="Density" options={DENSITIES} value={density} onChange={(next) => prefer({ density: next })} />
        <label class="check-label">
          <input
            type="checkbox"
            checked={singleKeys}
            onChange={(event) => prefer({ singleKeys: event.currentTarget.checked })}
          />
          Single-key shortcuts
        </label>
        <p class="field-hint">These choices stay in this browser.</p>
        <Sessions />
      </div>
    </Page>
  );
}

interface ChoiceProps<T extends Preferences["theme"] | Preferences["density"]> {
  label: string;
  options: Readonly<Record<T, string>>;
  value: T;
  onChange: (value: T) => void;
}

function Choice<T extends Preferences["theme"] | Preferences["density"]>({
  label,
  options,
  value,
  onChange,
}: ChoiceProps<T>) {
  const id = `profile-${label.toLowerCase()}`;
  return (
    <div class="field" role="radiogroup" aria-labelledby={id}>
      <span id={id} class="field-label">
        {label}
      </span>
      <div class="radios">
        {(Object.entries(options) as [T, string][]).map(([name, text]) => (
          <label key={name} class="radio">
            <input type="radio" name={id} checked={value === name} onChange={() => onChange(name)} />
            {text}
          </label>
        ))}
      </div>
    </div>
  );
}
