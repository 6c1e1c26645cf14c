// Failed events: their groups, and their course over time. Pure functions.
import type { ErrorSummary } from "../api/types";

/** The tabs: what failures are counted by. The ids are the values of `group_by`. */
export const GROUPINGS = [
  { id: "message", label: "By message", head: "Message" },
  { id: "error_type", label: "By type", head: "Error type" },
  { id: "tool_name", label: "By tool", head: "Tool" },
  { id: "agent_id", label: "By agent", head: "Agent" },
  { id: "user_id", label: "By user", head: "User" },
  { id: "agent_version", label: "By version", head: "Version" },
] as const;

export type Grouping = (typeof GROUPINGS)[number];

/** The grouping of the URL; the first one for anything else. */
export function groupingOf(text: string | null): Grouping {
  return GROUPINGS.find(({ id }) => id === text) ?? GROUPINGS[0];
}

/** The bars of the chart: where each begins, and the failures in it. */
export function barsOf({ bins, bounds }: Pick<ErrorSummary, "bins" | "bounds">): { times: number[]; counts: number[] } {
  const step = (bounds.to_ms - bounds.from_ms) / Math.max(1, bins.length);
  return { times: bins.map((_, index) => bounds.from_ms + index * step), counts: bins };
}
