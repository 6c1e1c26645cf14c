// Places in the list of sessions, whose moments have microseconds. Pure.

export interface Place {
  session_id: string;
  last_event_at: string;
}

/** A moment in UTC with six digits of a second, which sorts as text. */
export function padded(moment: string): string {
  const [, second, digits = ""] = /^(.{19})(?:\.(\d+))?Z$/.exec(moment) ?? [];
  return second ? `${second}.${digits.padEnd(6, "0").slice(0, 6)}Z` : moment;
}

/** The moment one microsecond later. */
export function nextMicrosecond(moment: string): string {
  const [second, digits] = padded(moment).slice(0, -1).split(".") as [string, string];
  const next = Number(digits) + 1;
  if (next < 1_000_000) return `${second}.${String(next).padStart(6, "0")}Z`;
  return padded(new Date(Date.parse(`${second}Z`) + 1000).toISOString());
}

/** Whether a session comes after another one in the list with the oldest first. */
export function isAfter(one: Place, other: Place): boolean {
  const [a, b] = [padded(one.last_event_at), padded(other.last_event_at)];
  return a === b ? one.session_id > other.session_id : a > b;
}
