/** Decides when a running session is next asked for new events. */

export const RUNNING_WITHIN_MS = 5 * 60_000;
const FASTEST_MS = 1000;
const SLOWEST_MS = 10_000;
const AFTER_END_MS = 60_000;
const SILENT_MS = 10_000;

export type State = "running" | "idle" | "ended";

/**
 * @param endedAt and the others are milliseconds since 1970
 */
export function stateOf(endedAt: number | null, lastEventAt: number, now: number): State {
  if (endedAt !== null) return "ended";
  return now - lastEventAt < RUNNING_WITHIN_MS ? "running" : "idle";
}

/**
 * Milliseconds until the next question, or null when there is none to ask: 60 s after the end.
 *
 * @param quietFor how long nothing new has come
 * @param endedFor how long ago the session ended; null while it has not
 */
export function nextPoll(quietFor: number, hidden: boolean, endedFor: number | null): number | null {
  if (endedFor !== null && endedFor > AFTER_END_MS) return null;
  if (hidden) return SLOWEST_MS;
  // A tenth of the silence: after 20 s each 2 s, after 100 s each 10 s.
  return Math.min(SLOWEST_MS, Math.max(FASTEST_MS, quietFor / 10));
}

/** "Silent for 42 s, 2 calls open", or an empty text within the first 10 s. */
export function silence(quietFor: number, open: number): string {
  if (quietFor < SILENT_MS) return "";
  const calls = open === 0 ? "" : open === 1 ? ", 1 call open" : `, ${open} calls open`;
  return `Silent for ${elapsed(quietFor)}${calls}`;
}

/** "42 s", "2 m 05 s": a time that goes on is said in whole seconds. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const pad = (value: number) => String(value).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${pad(Math.floor(seconds / 60) % 60)} m`;
}
