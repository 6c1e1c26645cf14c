// Moments and ranges of time in a zone. Pure functions; zones are those of `Intl`.

/** The zones that one can choose. "local" is that of this machine. */
export const ZONES: readonly string[] = ["local", "UTC", ...Intl.supportedValuesOf("timeZone")];

export const PRESETS = ["15m", "1h", "24h", "7d", "30d", "90d", "all"] as const;
export type Preset = (typeof PRESETS)[number];

/** A preset, or a span of which one end may be open. Ends are RFC 3339 in UTC. */
export interface Range {
  preset: Preset | null;
  from: string | null;
  to: string | null;
}

/** Bounds of a request: inclusive and exclusive, null for none. */
export interface Bounds {
  from: string | null;
  to: string | null;
}

const LABELS: Record<Preset, string> = {
  "15m": "Last 15 minutes",
  "1h": "Last hour",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "90d": "Last 90 days",
  all: "All time",
};
const MINUTE = 60_000;
const SPANS: Record<Exclude<Preset, "all">, number> = {
  "15m": 15 * MINUTE,
  "1h": 60 * MINUTE,
  "24h": 1440 * MINUTE,
  "7d": 7 * 1440 * MINUTE,
  "30d": 30 * 1440 * MINUTE,
  "90d": 90 * 1440 * MINUTE,
};

export function presetLabel(preset: Preset): string {
  return LABELS[preset];
}

function isPreset(text: string | null): text is Preset {
  return (PRESETS as readonly (string | null)[]).includes(text);
}

function utc(text: string | null): string | null {
  const date = new Date(text ?? NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Reads `t`, or `from` and `to`, of a query. What is not readable counts as absent. */
export function rangeOf(query: URLSearchParams, standard: Preset): Range {
  const from = utc(query.get("from"));
  const to = utc(query.get("to"));
  if (from || to) return { preset: null, from, to };
  const preset = query.get("t");
  return { preset: isPreset(preset) ? preset : standard, from: null, to: null };
}

/** The bounds of a range at a moment. A preset ends now, so it has no end. */
export function boundsOf(range: Range, now: number): Bounds {
  if (range.preset === null) return { from: range.from, to: range.to };
  if (range.preset === "all") return { from: null, to: null };
  return { from: new Date(now - SPANS[range.preset]).toISOString(), to: null };
}

/** Whether a text names a zone. There are more names than `Intl` lists. */
export function isZone(text: string): boolean {
  if (text === "local") return true;
  try {
    return !!new Intl.DateTimeFormat("en", { timeZone: text });
  } catch {
    return false;
  }
}

/** "local", "UTC" or an IANA name → an IANA name. Unknown names count as local. */
export function zoneName(zone: string): string {
  // The name as it was given: "Asia/Kathmandu" must not turn into its older spelling.
  if (zone !== "local" && isZone(zone)) return zone;
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(zone: string): Intl.DateTimeFormat {
  let found = formatters.get(zone);
  if (!found) {
    const digits = "2-digit";
    found = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "short",
      day: digits,
      hour: digits,
      minute: digits,
      second: digits,
      fractionalSecondDigits: 3,
    });
    formatters.set(zone, found);
  }
  return found;
}

type Fields = Record<"year" | "month" | "day" | "hour" | "minute" | "second" | "fractionalSecond", string>;

function fieldsOf(date: Date, zone: string): Fields {
  const found = Object.fromEntries(
    formatter(zone)
      .formatToParts(date)
      .map(({ type, value }) => [type, value]),
  ) as Fields;
  // ICU writes "Sept" in British English.
  return { ...found, month: found.month.slice(0, 3) };
}

/**
 * "02 Nov 08:13:33" in a zone (an IANA name). A moment of another year than now has the year: "15 Jun 2027 08:13:33".
 */
export function formatMoment(date: Date, zone: string, now = new Date()): string {
  const { day, month, year, hour, minute, second } = fieldsOf(date, zone);
  const other = year === fieldsOf(now, zone).year ? "" : ` ${year}`;
  return `${day} ${month}${other} ${hour}:${minute}:${second}`;
}

/** "02 Nov 2026 08:13:33.123 Europe/Berlin", for titles. */
export function formatFully(date: Date, zone: string): string {
  const { day, month, year, hour, minute, second, fractionalSecond } = fieldsOf(date, zone);
  return `${day} ${month} ${year} ${hour}:${minute}:${second}.${fractionalSecond} ${zone}`;
}

/** "08:13:33.123" in a zone. */
export function formatClock(date: Date, zone: string): string {
  const { hour, minute, second, fractionalSecond } = fieldsOf(date, zone);
  return `${hour}:${minute}:${second}.${fractionalSecond}`;
}

/** A tick of an axis whose ticks are `step` milliseconds apart: "Nov 2026", "02 Nov", "08:15" or "08:15:30". */
export function formatTick(date: Date, zone: string, step: number): string {
  const { year, day, month, hour, minute, second } = fieldsOf(date, zone);
  if (step >= 365 * 1440 * MINUTE) return `${month} ${year}`;
  if (step >= 1440 * MINUTE || (hour === "00" && minute === "00" && step >= MINUTE)) return `${day} ${month}`;
  return step < MINUTE ? `${hour}:${minute}:${second}` : `${hour}:${minute}`;
}

/** "2026-11-02 08:13:33" in a zone, as the text boxes of the time range show it. */
export function formatInput(date: Date, zone: string): string {
  const { year, day, hour, minute, second } = fieldsOf(date, zone);
  const month = new Intl.DateTimeFormat("en", { timeZone: zone, month: "2-digit" }).format(date);
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

/** The offset of the zone from UTC at a moment, in milliseconds; east is positive. */
export function offsetAt(moment: number, zone: string): number {
  const [year, month, day, hour, minute, second] = formatInput(new Date(moment), zone).split(/[- :]/).map(Number);
  const asUtc = Date.UTC(year!, month! - 1, day!, hour!, minute!, second!);
  return asUtc - Math.floor(moment / 1000) * 1000;
}

const INPUT = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?$/;

/** The moments, in milliseconds, at which the clocks of a zone may show a time; `fits` are those at which they do. */
function momentsOf(text: string, zone: string): { fits: number[]; near: number[] } | null {
  const match = INPUT.exec(text.trim());
  if (!match) return null;
  const [year, month, day, hour = 0, minute = 0, second = 0] = match.slice(1).map((part) => Number(part ?? 0));
  const wall = Date.UTC(year!, month! - 1, day!, hour, minute, second);
  if (new Date(wall).getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) return null;
  const offsets = new Set([offsetAt(wall - 1440 * MINUTE, zone), offsetAt(wall + 1440 * MINUTE, zone)]);
  const near = [...offsets].map((offset) => wall - offset);
  return { fits: near.filter((moment) => moment + offsetAt(moment, zone) === wall), near };
}

/**
 * Reads "2026-11-02 08:13:33", "2026-11-02 08:13" or "2026-11-02" in a zone, or RFC 3339 with a
 * zone of its own. A time that the clocks skip counts as the one after the gap; one that they
 * repeat, as the first. Null for anything else.
 */
export function parseInput(text: string, zone: string): Date | null {
  const moments = momentsOf(text, zone);
  if (moments) return new Date(moments.fits.length ? Math.min(...moments.fits) : Math.max(...moments.near));
  const date = /[zZ]|[+-]\d\d:\d\d$/.test(text) ? new Date(text) : null;
  return date && !Number.isNaN(date.getTime()) ? date : null;
}

/** A sentence about a typed time that the clocks of the zone skip or show twice, null for all others. */
export function clockNote(text: string, zone: string): string | null {
  const moments = momentsOf(text, zone);
  if (!moments || moments.fits.length === 1) return null;
  if (!moments.fits.length) return `The clocks skip this time. ${formatInput(parseInput(text, zone)!, zone)} counts.`;
  const later = new Date(Math.max(...moments.fits)).toISOString().slice(0, 19);
  return `The clocks show this time twice. The first counts; the second is ${later}Z.`;
}

/** The name of a range for its button: "Last 24 hours", or both ends. */
export function rangeLabel(range: Range, zone: string): string {
  if (range.preset !== null) return LABELS[range.preset];
  const end = (text: string | null) => text && formatMoment(new Date(text), zone);
  if (range.from && range.to) return `${end(range.from)} – ${end(range.to)}`;
  return range.from ? `Since ${end(range.from)}` : `Before ${end(range.to)}`;
}
