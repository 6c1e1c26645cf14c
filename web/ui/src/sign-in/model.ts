import type { ApiError } from "../api/errors";
import { duration } from "../kit/text/formats";

/** The sentence about a step that failed. null: the code of the page itself is at fault. */
export function messageOf(error: ApiError | null): string {
  if (error === null) return "Something went wrong. Load the page again.";
  if (error.status === 401) return "That code is wrong or has expired.";
  if (error.status === 429) {
    const wait = error.retryAfter ? ` Try again in ${duration(error.retryAfter * 1000)}.` : "";
    return `Too many attempts.${wait}`;
  }
  const message = Object.values(error.fields)[0]?.[0] ?? error.message;
  const request = error.status >= 500 && error.requestId ? ` (request ${error.requestId})` : "";
  return message[0]!.toUpperCase() + message.slice(1) + request;
}

/** What is typed, as a code: six digits, or twelve letters after many wrong codes. */
export function codeOf(typed: string): string {
  const known = typed.toLowerCase().replace(/[^0-9a-z]/g, "");
  return /^[a-z]/.test(known) ? known.replace(/\d/g, "").slice(0, 12) : known.replace(/\D/g, "").slice(0, 6);
}

/** Whether a code has all of its characters. */
export function isWhole(code: string): boolean {
  return /^(\d{6}|[a-z]{12})$/.test(code);
}
