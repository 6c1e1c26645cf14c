// Runs that give stored calls their cost by the present prices. Pure functions.
import type { RepricingRow } from "../api/types";
import { exact, plural } from "../kit/text/formats";

const DAY_MS = 86_400_000;
const USUAL_DAYS = 30;
/** As many as a run takes. */
const MOST_DAYS = 400;

/** The range that a new run begins with: from the moment of a price on, else 30 days. */
export function rangeFor(since: string, now: number): { from: Date; to: Date } {
  const moment = Date.parse(since);
  const usual = now - USUAL_DAYS * DAY_MS;
  const from = Number.isNaN(moment) || moment >= now ? usual : Math.max(moment, now - MOST_DAYS * DAY_MS);
  return { from: new Date(from), to: new Date(now) };
}

export function isUnderWay({ state }: Pick<RepricingRow, "state">): boolean {
  return state === "queued" || state === "running";
}

/** How far a run is, or how it ended. */
export function stateText({ state, progress, error }: Pick<RepricingRow, "state" | "progress" | "error">): string {
  const { months, months_done, calls } = progress;
  if (state === "running") return `Running: ${months_done} of ${plural(months, "month")}, ${plural(calls, "call")}`;
  if (state === "failed") return `Failed: ${error ?? "no reason is known"}`;
  return { queued: "Queued", done: "Done", cancelled: "Cancelled" }[state];
}

/** "12 of 3,400 calls change" */
export function changeText({ calls, changed }: { calls: number; changed: number }): string {
  return `${exact(changed)} of ${plural(calls, "call")} change${changed === 1 ? "s" : ""}`;
}
