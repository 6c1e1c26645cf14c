// Axes: round steps for numbers, and steps of the calendar for time. Pure functions.
import { offsetAt } from "../time/time";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  1000,
  2000,
  5000,
  10_000,
  15_000,
  30_000,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
  90 * DAY,
  365 * DAY,
];

/** The smallest of 1, 2 and 5 times a power of ten that makes at most `most` steps of a span. */
export function niceStep(span: number, most: number): number {
  if (span <= 0) return 1;
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough * 0.999999) ?? 10;
  return factor * power;
}

/** Round numbers from at most `min` to at least `max`, at least `least` apart. */
export function ticks(min: number, max: number, most = 4, least = 0): number[] {
  const step = Math.max(least, niceStep(max - min, most));
  const first = Math.floor(min / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(max / step - 1e-9));
  // Multiplied, not added up: 0.1 + 0.2 is no tick.
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** Moments of the calendar of a zone between two moments, and the step between them. */
export function timeTicks(from: number, to: number, most: number, zone: string): { at: number[]; step: number } {
  const rough = (to - from) / Math.max(1, most);
  const year = TIME_STEPS[TIME_STEPS.length - 1]!;
  const step = TIME_STEPS.find((one) => one >= rough) ?? Math.ceil(rough / year) * year;
  const shift = offsetAt(from, zone);
  const at: number[] = [];
  for (let wall = Math.ceil((from + shift) / step) * step; wall - shift <= to; wall += step) {
    // The offset may change on the way, by summer time.
    const moment = wall - (step >= HOUR ? offsetAt(wall - shift, zone) : shift);
    if (moment >= from && moment <= to) at.push(moment);
  }
  return { at, step };
}

/** A function from values to pixels. */
export function linear(from: number, to: number, start: number, end: number): (value: number) => number {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

/** The colour of the series at an index: the tokens in their order. */
export function seriesColor(index: number): string {
  return `var(--cat-${(index % 8) + 1})`;
}

/** The time that a moment belongs to: that of the span that holds it, else the point next to it. */
export function nearest(times: readonly number[], moment: number, spans: boolean): number {
  if (!times.length) return -1;
  let index = times.findIndex((time) => time > moment);
  if (index < 0) index = times.length;
  if (spans || index === 0) return Math.max(0, index - 1);
  const before = times[index - 1]!;
  return index < times.length && times[index]! - moment < moment - before ? index : index - 1;
}
