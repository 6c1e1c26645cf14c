// Numbers, durations and sizes as people read them. Units are part of the text or of the header.

const UNITS = ["", "k", "M", "G", "T"];

/** 13007 → "13,007". Without `Intl.NumberFormat`, which takes 15 ms to load when the first page begins. */
export function exact(value: number): string {
  return Number.isInteger(value) ? `${value}`.replace(/\B(?=(\d{3})+$)/g, ",") : `${value}`;
}

/** 9581 → "9.6k", 7_012_345 → "7.0M", 28 → "28". */
export function compact(value: number): string {
  let size = Math.abs(value);
  let unit = 0;
  while (size >= 999.95 && unit < UNITS.length - 1) {
    size /= 1000;
    unit++;
  }
  if (unit > 0) return `${value < 0 ? "−" : ""}${size.toFixed(1)}${UNITS[unit]}`;
  return Number.isInteger(value) ? `${value}` : decimal(value);
}

/** A number that is no count: three significant digits, "0.42", "17.3", "1,024". */
export function decimal(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return exact(Math.round(value));
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return size !== 0 && size < 0.01 ? value.toPrecision(2) : value.toFixed(2);
}

/** 0.225 → "22.5 %". */
export function percent(share: number): string {
  const value = share * 100;
  return `${value === 0 || value === 100 || Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1)} %`;
}

/** 565 → "565 ms", 41_900 → "41.9 s", 174_000 → "2 m 54 s", 3_900_000 → "1 h 05 m". */
export function duration(milliseconds: number): string {
  if (milliseconds < 0) return `−${duration(-milliseconds)}`;
  if (milliseconds < 1) return milliseconds === 0 ? "0 ms" : `${milliseconds.toPrecision(1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const total = Math.round(seconds);
  if (total < 3600) return parts(total, 60, "m", "s");
  if (total < 86_400) return parts(Math.round(total / 60), 60, "h", "m");
  return parts(Math.round(total / 3600), 24, "d", "h");
}

function parts(total: number, base: number, large: string, small: string): string {
  const rest = `${total % base}`.padStart(2, "0");
  return `${Math.floor(total / base)} ${large} ${rest} ${small}`;
}

/** 2048 → "2.0 kB". */
export function bytes(size: number): string {
  return size < 1000 ? `${size} B` : `${compact(size).replace(/([kMGT])$/, " $1")}B`;
}

/** Cuts a long text in its middle; ids differ at both ends. */
export function middle(text: string, most = 28): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** plural(1, "session") → "1 session", plural(2, "session") → "2 sessions". */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${exact(count)} ${count === 1 ? noun : nouns}`;
}
