import { useId, useState } from "preact/hooks";
import { Combobox } from "../form/combobox";
import { Icon } from "../icon";
import { Dialog } from "../overlay/dialog";
import { preferences } from "../preferences";
import { setQuery } from "../router";
import { useShortcuts } from "../shortcuts";
import {
  boundsOf,
  clockNote,
  formatInput,
  isZone,
  PRESETS,
  type Preset,
  parseInput,
  presetLabel,
  type Range,
  rangeLabel,
  zoneName,
} from "./time";
import { chosenZone, currentRange, ZONE_CHOICES, zone } from "./zone";

interface Props {
  /** The range that a URL without one means. */
  standard: Preset;
}

/** The button "Time range: …" and its dialog. State: `t`, `from`, `to` and `tz` of the URL. */
export function TimeRange({ standard }: Props) {
  const [open, setOpen] = useState(false);
  useShortcuts([{ keys: "t", label: "Time range", run: () => setOpen(true) }]);
  const range = currentRange(standard);
  const label = rangeLabel(range, zone.value);
  return (
    <>
      <button
        type="button"
        class="button time-range"
        aria-label={`Time range: ${label} ${zone.value}`}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Icon name="clock" />
        <span>{label}</span> <small>{zone.value}</small>
        <Icon name="chevron-down" class="small" />
      </button>
      {open && <RangeDialog range={range} standard={standard} onClose={() => setOpen(false)} />}
    </>
  );
}

interface DialogProps extends Props {
  range: Range;
  onClose: () => void;
}

/** A bound of the range: its text, and the moment, which is finer than the text until somebody edits it. */
interface Bound {
  text: string;
  at: Date | null;
}

function boundOf(at: Date | null, inZone: string): Bound {
  return { text: at ? formatInput(at, inZone) : "", at };
}

function RangeDialog({ range, standard, onClose }: DialogProps) {
  const [preset, setPreset] = useState<Preset | "">(range.preset ?? "");
  const [chosen, setChosen] = useState(chosenZone.value);
  const inZone = zoneName(chosen);
  const initial = (text: string | null) => boundOf(text ? new Date(text) : null, inZone);
  const [from, setFrom] = useState(initial(range.from));
  const [to, setTo] = useState(initial(range.to));
  const [problem, setProblem] = useState<string | null>(null);

  const changeZone = (next: string) => {
    if (!isZone(next)) return setProblem(`“${next}” is no time zone.`);
    setProblem(null);
    const moved = (bound: Bound) => (bound.at ? boundOf(bound.at, zoneName(next)) : bound);
    setFrom(moved);
    setTo(moved);
    setChosen(next);
  };
  const apply = (event: Event) => {
    event.preventDefault();
    // The profile's zone is the default, and defaults are left out of the URL.
    const tz = chosen === preferences.value.zone ? null : chosen;
    if (preset) {
      setQuery({ t: preset === standard ? null : preset, from: null, to: null, tz });
      return onClose();
    }
    const unread = [from, to].some(({ text, at }) => text.trim() !== "" && !at);
    if (unread || (!from.at && !to.at)) return setProblem("Write a time like 2026-11-02 08:13:33.");
    if (from.at && to.at && from.at >= to.at) return setProblem("“From” has to be before “To”.");
    setQuery({ t: null, from: from.at?.toISOString(), to: to.at?.toISOString(), tz });
    onClose();
  };
  const edit = (set: (bound: Bound) => void) => (text: string) => {
    set({ text, at: parseInput(text, inZone) });
    setPreset("");
    setProblem(null);
  };
  const start = preset && boundsOf({ preset, from: null, to: null }, Date.now()).from;
  const hints = preset === "" ? [FORMAT, FORMAT] : [start ? formatInput(new Date(start), inZone) : "any time", "now"];
  return (
    <Dialog title="Time range" onClose={onClose}>
      <form class="form" onSubmit={apply}>
        <fieldset class="presets">
          <legend class="visually-hidden">Preset</legend>
          {PRESETS.map((name) => (
            <label key={name} class="radio">
              <input
                type="radio"
                name="preset"
                checked={preset === name}
                autofocus={preset === name}
                onChange={() => setPreset(name)}
              />
              {presetLabel(name)}
            </label>
          ))}
        </fieldset>
        <div class="field-row">
          <BoundField
            label="From"
            bound={from}
            zone={inZone}
            placeholder={hints[0]!}
            invalid={problem !== null}
            autofocus={range.preset === null}
            onEdit={edit(setFrom)}
          />
          <BoundField
            label="To"
            bound={to}
            zone={inZone}
            placeholder={hints[1]!}
            invalid={problem !== null}
            onEdit={edit(setTo)}
          />
        </div>
        {problem && (
          <p id="range-problem" class="field-error" role="alert">
            {problem}
          </p>
        )}
        <label class="field">
          <span>Time zone</span>
          <Combobox
            id="range-zone"
            label="Time zone"
            values={[chosen]}
            choices={ZONE_CHOICES}
            typed
            onChange={([next]) => next && changeZone(next)}
          />
        </label>
        <footer class="dialog-foot">
          <button type="submit" class="button primary">
            Apply
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const FORMAT = "YYYY-MM-DD hh:mm:ss";

interface BoundProps {
  label: string;
  bound: Bound;
  zone: string;
  placeholder: string;
  invalid: boolean;
  autofocus?: boolean;
  onEdit: (text: string) => void;
}

function BoundField({ label, bound, zone: inZone, placeholder, invalid, autofocus = false, onEdit }: BoundProps) {
  const id = useId();
  // A bound that was not edited may be the second of two moments with the same text.
  const read = parseInput(bound.text, inZone);
  const note = read?.getTime() === bound.at?.getTime() ? clockNote(bound.text, inZone) : null;
  const described = [invalid && "range-problem", note && `${id}-note`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        class="input mono"
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        autofocus={autofocus}
        value={bound.text}
        aria-invalid={invalid || undefined}
        aria-describedby={described || undefined}
        onInput={(event) => onEdit(event.currentTarget.value)}
      />
      {note && (
        <p id={`${id}-note`} class="field-hint">
          {note}
        </p>
      )}
    </div>
  );
}
