// Spans of time as people write them: "15 m", "1 h", "7 d".
const UNITS: readonly [string, number][] = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
];

/** 3600 → "1 h", 5400 → "90 m". */
export function spanText(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= length && seconds % length === 0) ?? ["s", 1];
  return `${seconds / size} ${unit}`;
}

/** Reads "15 m", "1h", "2 days", "90 minutes", "3600"; null for anything else. */
export function spanOf(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(text.trim().toLowerCase());
  if (!match) return null;
  const [, count, word = ""] = match;
  if (!/^(s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)?$/.test(word)) return null;
  const size = UNITS.find(([unit]) => unit === (word[0] ?? "s"))![1];
  const seconds = Number(count) * size;
  return Number.isInteger(seconds) ? seconds : null;
}

/** Choices for a field. */
export function spans(...seconds: readonly number[]): string[] {
  return seconds.map(spanText);
}

/** The value that a form sends for a span: seconds, or the text, which the server refuses by the field's name. */
export function spanValue(text: string): number {
  return spanOf(text) ?? (text as unknown as number);
}
