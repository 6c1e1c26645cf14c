/**
 * The time axis. Stretches of more than 30 s in which nothing works are folded to a short break of a fixed width, so
 * that an hour's wait does not flatten the seconds around it. Positions on the folded axis are milliseconds, breaks
 * included.
 */

export interface Gap {
  /** Milliseconds since the start of the session. */
  from: number;
  to: number;
  /** Where its break begins on the folded axis. */
  at: number;
  /** The length of the break on the folded axis. */
  width: number;
}

export interface Axis {
  /** Milliseconds since the session began. */
  readonly end: number;
  /** The length of the folded axis. */
  readonly length: number;
  readonly gaps: readonly Gap[];
}

export const GAP_MS = 30_000;
const BREAK_SHARE = 0.025;

/**
 * Finds the gaps among spans of work.
 *
 * @param starts milliseconds, ascending
 * @param ends the end of each span; that of a moment is its start
 * @param end the end of the axis
 * @param folding whether gaps are folded at all
 */
export function buildAxis(starts: Float64Array, ends: Float64Array, end: number, folding = true): Axis {
  const gaps: Gap[] = [];
  let busyUntil = 0;
  let folded = 0;
  const note = (from: number, to: number) => {
    if (to - from <= GAP_MS) return;
    gaps.push({ from, to, at: 0, width: 0 });
    folded += to - from;
  };
  if (folding) {
    for (let i = 0; i < starts.length; i++) {
      note(busyUntil, starts[i]!);
      busyUntil = Math.max(busyUntil, ends[i]!);
    }
    note(busyUntil, end);
  }
  // Each break is as wide as a fortieth of what is worth showing, but at least a second.
  const width = Math.max(1000, (end - folded) * BREAK_SHARE);
  let saved = 0;
  for (const gap of gaps) {
    gap.at = gap.from - saved;
    gap.width = width;
    saved += gap.to - gap.from - width;
  }
  return { end, length: Math.max(1, end - saved), gaps };
}

/** The last gap that begins before a value, by bisection. */
function gapBefore(gaps: readonly Gap[], value: number, field: "from" | "at"): Gap | undefined {
  let low = 0;
  let high = gaps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (gaps[middle]![field] < value) low = middle + 1;
    else high = middle;
  }
  return gaps[low - 1];
}

/** The place of a moment on the folded axis. */
export function toAxis(axis: Axis, ms: number): number {
  const gap = gapBefore(axis.gaps, ms, "from");
  if (!gap) return ms;
  if (ms >= gap.to) return gap.at + gap.width + (ms - gap.to);
  return gap.at + (gap.width * (ms - gap.from)) / (gap.to - gap.from);
}

/** The moment at a place of the folded axis. */
export function fromAxis(axis: Axis, place: number): number {
  const gap = gapBefore(axis.gaps, place, "at");
  if (!gap) return place;
  const into = place - gap.at;
  if (into >= gap.width) return gap.to + into - gap.width;
  return gap.from + (into / gap.width) * (gap.to - gap.from);
}

/** The part of the folded axis that a choice of moments covers; all of it without a choice. */
export function windowOn(axis: Axis, chosen: { from: number; to: number } | null): { from: number; to: number } {
  if (!chosen) return { from: 0, to: axis.length };
  const from = toAxis(axis, Math.max(0, chosen.from));
  return { from, to: Math.max(from + 1, toAxis(axis, Math.min(axis.end, chosen.to))) };
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000, 86_400_000, 172_800_000, 604_800_000,
];

/** The round moments within a window of the folded axis, at most `most`; none within a break. */
export function ticks(axis: Axis, from: number, to: number, most: number): number[] {
  const span = Math.max(1e-3, to - from);
  const step = STEPS.find((each) => span / each <= Math.max(1, most)) ?? STEPS[STEPS.length - 1]!;
  const out: number[] = [];
  const last = fromAxis(axis, to);
  for (let at = Math.ceil(fromAxis(axis, from) / step) * step; at <= last; at += step) {
    const gap = gapBefore(axis.gaps, at, "from");
    if (gap && at < gap.to) at = Math.ceil(gap.to / step) * step;
    if (at <= last) out.push(at);
  }
  return out;
}

/** The label of a moment on the axis: "2:05", "1:02:05", or "2:05.250" where steps are shorter than a second. */
export function clock(ms: number, step = 1000): string {
  const whole = Math.floor(ms / 1000);
  const pad = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const head = hours ? `${hours}:${pad(minutes)}` : String(minutes);
  const fraction = step < 1000 ? `.${String(Math.floor(ms % 1000)).padStart(3, "0")}` : "";
  return `${head}:${pad(whole % 60)}${fraction}`;
}
