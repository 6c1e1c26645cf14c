import { useState } from "preact/hooks";
import { Combobox } from "../form/combobox";
import { Dialog } from "../overlay/dialog";
import { place, setQuery } from "../router";
import { splitValues } from "../url";
import { Chip } from "./filters";

const PARAM = "score_filters";

export interface ScoreBounds {
  key: string;
  min: string;
  max: string;
}

/** Takes `key:min..max` apart. The key may hold colons. */
export function parseBounds(text: string): ScoreBounds | null {
  const match = /^(.+):([^:]*?)\.\.([^:]*)$/.exec(text);
  return match && { key: match[1]!, min: match[2]!, max: match[3]! };
}

/** "reward ≥ 0.5", "reward 0 – 0.5" */
export function showBounds({ key, min, max }: ScoreBounds): string {
  if (min && max) return `${key} ${min} – ${max}`;
  return min ? `${key} ≥ ${min}` : max ? `${key} ≤ ${max}` : key;
}

function current(): ScoreBounds[] {
  return splitValues(place.value.query.get(PARAM))
    .map(parseBounds)
    .filter((one) => one !== null);
}

function write(all: readonly ScoreBounds[]): void {
  setQuery({ [PARAM]: all.map(({ key, min, max }) => `${key}:${min}..${max}`) });
}

/** Chips of the scores that are filtered, for the `extra` of `Filters`. */
export function scoreChips() {
  const all = current();
  const chips = all.map((bounds) => (
    <Chip
      key={bounds.key}
      label="Score"
      value={showBounds(bounds)}
      onRemove={() => write(all.filter((one) => one.key !== bounds.key))}
    />
  ));
  return [{ param: PARAM, chip: <>{chips}</> }];
}

/** The filter "Score": a key, and bounds for it. State: `score_filters` of the URL. */
export function ScoreFilter({ keys }: { keys: () => Promise<readonly string[]> }) {
  const [key, setKey] = useState<string | null>(null);
  return (
    <>
      <Combobox
        class="filter"
        label="Score"
        placeholder="Score"
        values={[]}
        choices={keys}
        typed
        onChange={([chosen]) => setKey(chosen ?? null)}
      />
      {key !== null && <BoundsDialog name={key} onClose={() => setKey(null)} />}
    </>
  );
}

function BoundsDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const before = current().find(({ key }) => key === name);
  const [min, setMin] = useState(before?.min ?? "");
  const [max, setMax] = useState(before?.max ?? "");
  const wrong = [min, max].some((text) => text.trim() !== "" && !Number.isFinite(Number(text)));
  const bound = (label: string, value: string, set: (text: string) => void, first = false) => (
    <label class="field">
      <span>{label}</span>
      <input
        class="input"
        inputMode="decimal"
        autofocus={first}
        value={value}
        aria-invalid={wrong || undefined}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
  return (
    <Dialog title={`Score ${name}`} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong) return;
          const others = current().filter(({ key }) => key !== name);
          // Without a bound there is nothing to filter by.
          write(min.trim() || max.trim() ? [...others, { key: name, min: min.trim(), max: max.trim() }] : others);
          onClose();
        }}
      >
        <div class="field-row">
          {bound("Min", min, setMin, true)}
          {bound("Max", max, setMax)}
        </div>
        {wrong && <p class="field-error">Write a number like 0.5.</p>}
        <footer class="dialog-foot">
          <button type="submit" class="button primary">
            Apply
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
