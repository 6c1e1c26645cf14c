import { useState } from "preact/hooks";
import { DECLARED } from "../../api/filters";
import type { Choices } from "../form/choices";
import { Combobox } from "../form/combobox";
import { type Bounds, boundOf, type Figure, figureOf, parseBounds, showBounds, typedBound } from "../form/ranges";
import { Dialog } from "../overlay/dialog";
import { place, setQuery } from "../router";
import { splitValues } from "../url";
import { Chip } from "./filters";

/** A filter by bounds of several figures. State: its parameter of the URL. */
interface Ranged {
  param: string;
  /** The name of its field. */
  label: string;
  figure: (key: string) => Figure;
  /** The name and the value on the chip of a figure. */
  chip: (bounds: Bounds) => { label: string; value: string };
}

const SCORE: Ranged = {
  param: "score_filters",
  label: "Score",
  figure: (key) => ({ label: `Score ${key}`, show: String }),
  chip: (bounds) => ({ label: "Score", value: `${bounds.key} ${showBounds(bounds, String)}` }),
};

const FIGURE: Ranged = {
  param: "metric_filters",
  label: "Figure",
  figure: figureOf,
  chip(bounds) {
    const { label, show } = figureOf(bounds.key);
    return { label, value: showBounds(bounds, show) };
  },
};

function current({ param }: Ranged): Bounds[] {
  return splitValues(place.value.query.get(param))
    .map(parseBounds)
    .filter((one) => one !== null);
}

function write({ param }: Ranged, all: readonly Bounds[]): void {
  setQuery({ [param]: all.map(({ key, min, max }) => `${key}:${min}..${max}`) });
}

function chipsOf(ranged: Ranged) {
  const all = current(ranged);
  const chips = all.map((bounds) => (
    <Chip
      key={bounds.key}
      {...ranged.chip(bounds)}
      onRemove={() =>
        write(
          ranged,
          all.filter((one) => one.key !== bounds.key),
        )
      }
    />
  ));
  return { param: ranged.param, chip: <>{chips}</> };
}

/** Chips of the scores and figures that are filtered, for the `extra` of `Filters`. */
export function rangeChips() {
  return [SCORE, FIGURE].map(chipsOf);
}

interface FilterProps {
  ranged: Ranged;
  choices: Choices | (() => Promise<Choices>);
  /** Whether other keys than the choices may be typed. */
  typed?: boolean;
}

function RangeFilter({ ranged, choices, typed }: FilterProps) {
  const [key, setKey] = useState<string | null>(null);
  return (
    <>
      <Combobox
        class="filter"
        label={ranged.label}
        placeholder={ranged.label}
        values={[]}
        choices={choices}
        typed={typed}
        onChange={([chosen]) => setKey(chosen ?? null)}
      />
      {key !== null && <BoundsDialog ranged={ranged} name={key} onClose={() => setKey(null)} />}
    </>
  );
}

/** The filter "Score": a key, and bounds for it. State: `score_filters` of the URL. */
export function ScoreFilter({ keys }: { keys: () => Promise<readonly string[]> }) {
  return <RangeFilter ranged={SCORE} choices={keys} typed />;
}

/** The filter "Figure": one that the service declares, and bounds for it. State: `metric_filters` of the URL. */
export function FigureFilter({ resource }: { resource: string }) {
  const declared = DECLARED[resource]?.find(({ param }) => param === FIGURE.param);
  const choices = (declared?.names ?? []).map((value) => ({ value, label: figureOf(value).label }));
  return <RangeFilter ranged={FIGURE} choices={choices} />;
}

interface DialogProps {
  ranged: Ranged;
  name: string;
  onClose: () => void;
}

function BoundsDialog({ ranged, name, onClose }: DialogProps) {
  const figure = ranged.figure(name);
  const before = current(ranged).find(({ key }) => key === name);
  const [min, setMin] = useState(typedBound(before?.min ?? "", figure));
  const [max, setMax] = useState(typedBound(before?.max ?? "", figure));
  const wrong = [min, max].some((text) => text.trim() !== "" && !Number.isFinite(Number(text)));
  const bound = (label: string, value: string, set: (text: string) => void, first = false) => (
    <label class="field">
      <span>{figure.unit ? `${label}, ${figure.unit}` : label}</span>
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
  const apply = () => {
    const others = current(ranged).filter(({ key }) => key !== name);
    const bounds = { key: name, min: boundOf(min, figure), max: boundOf(max, figure) };
    // Without a bound there is nothing to filter by.
    write(ranged, bounds.min || bounds.max ? [...others, bounds] : others);
    onClose();
  };
  return (
    <Dialog title={figure.label} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!wrong) apply();
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
