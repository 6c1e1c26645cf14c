// Values as cells and facts show them: short, with the exact value as title.
import { useState } from "preact/hooks";
import { Icon } from "../icon";
import { formatFully, formatMoment } from "../time/time";
import { zone } from "../time/zone";
import { copy } from "./clipboard";
import { compact, duration, exact, middle } from "./formats";
import { moneyWords } from "./money";

/** A moment in the chosen zone. */
export function Moment({ at }: { at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={formatFully(date, zone.value)}>
      {formatMoment(date, zone.value)}
    </time>
  );
}

/** A count: "9.6k". */
export function Count({ value, unit }: { value: number | null; unit?: string }) {
  if (value === null) return <span class="dim">–</span>;
  return <span title={`${exact(value)}${unit ? ` ${unit}` : ""}`}>{compact(value)}</span>;
}

/** A count of a column. Narrow rows, which have no headers, show its noun too. */
export function CountOf({ value, noun }: { value: number; noun: string }) {
  const unit = value === 1 ? noun : `${noun}s`;
  return (
    <>
      <Count value={value} unit={unit} />
      <span class="narrow-unit"> {unit}</span>
    </>
  );
}

/** An amount in dollars; "≥ $3.10" where calls without a price are not in it, a dash where nothing has one. */
export function Money({ value, unpriced = 0 }: { value: number | null; unpriced?: number }) {
  const { text, title } = moneyWords(value, unpriced);
  return (
    <span class={value === null ? "dim" : undefined} title={title}>
      {text}
    </span>
  );
}

/** A length of time, given in milliseconds. */
export function Duration({ ms }: { ms: number | null }) {
  if (ms === null) return <span class="dim">–</span>;
  return <span title={`${exact(ms)} ms`}>{duration(ms)}</span>;
}

/** An id in mono, cut in its middle. */
export function Id({ value, most = 28 }: { value: string; most?: number }) {
  return (
    <span class="mono" title={value}>
      {middle(value, most)}
    </span>
  );
}

const TAIL = 8;

/** An id in mono that fills its cell: where it does not fit, its middle is left out. */
export function FittedId({ value }: { value: string }) {
  const head = value.length > 2 * TAIL ? value.slice(0, -TAIL) : value;
  return (
    <span class="mono fitted" title={value}>
      <span>{head}</span>
      {head !== value && <span>{value.slice(-TAIL)}</span>}
    </span>
  );
}

/** A failure count: red, and dim where it is 0. */
export function Failures({ value }: { value: number }) {
  return (
    <span class={value > 0 ? "err" : "dim"} title={exact(value)}>
      {compact(value)}
    </span>
  );
}

interface PillProps {
  kind?: "err" | "warn" | "ok" | "info";
  children: preact.ComponentChildren;
}

/** A short word about a state. */
export function Pill({ kind, children }: PillProps) {
  return <span class={kind ? `pill ${kind}` : "pill"}>{children}</span>;
}

/** A button that copies a text and says so. */
export function CopyButton({
  label,
  text,
  icon = true,
}: {
  label: string;
  text: () => string | Promise<string>;
  icon?: boolean;
}) {
  const [done, setDone] = useState(false);
  const run = async () => {
    await copy(await text(), label);
    setDone(true);
    setTimeout(() => setDone(false), 2000);
  };
  return (
    <button
      type="button"
      class={icon ? "button ghost" : "button"}
      aria-label={label}
      title={icon ? label : undefined}
      onClick={() => void run()}
    >
      <Icon name={done ? "check" : "copy"} />
      {!icon && label}
    </button>
  );
}
