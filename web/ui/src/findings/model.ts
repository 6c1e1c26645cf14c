import type { FindingActionBody, FindingRow } from "../api/types";
import { compact, decimal, duration, percent, plural } from "../kit/text/formats";

export type Action = "ack" | "assign" | "resolve" | "mute" | "dismiss" | "reopen";

export interface ActionOf {
  action: Action & FindingActionBody["action"];
  /** The button, and the dialog's verb. */
  label: string;
  /** Its key, if it has one. */
  key: string | null;
  about: string;
}

export const ACTIONS: readonly ActionOf[] = [
  { action: "ack", label: "Acknowledge", key: "a", about: "It stays open. Others see that you know of it." },
  { action: "assign", label: "Assign", key: null, about: "The assignee is shown beside the finding." },
  { action: "resolve", label: "Resolve", key: "r", about: "If a later run finds it again, a new finding opens." },
  {
    action: "mute",
    label: "Mute",
    key: "m",
    about: "No audit of the organization reports or counts it until somebody reopens it.",
  },
  {
    action: "dismiss",
    label: "Dismiss",
    key: "d",
    about: "It is no problem: no audit of the organization reports or counts it until somebody reopens it.",
  },
  { action: "reopen", label: "Reopen", key: null, about: "It counts as open from then on." },
];

const OPEN = new Set<FindingRow["status"]>(["open", "recurring"]);

/** The actions that the state of a finding allows. */
export function actionsOf({ status }: FindingRow): ActionOf[] {
  return ACTIONS.filter(({ action }) => (OPEN.has(status) ? action !== "reopen" : action === "reopen"));
}

/** The filter's words for the states. */
export const STATUSES = ["open", "recurring", "resolved", "dismissed", "muted"] as const;
export const OPEN_STATUSES = "open,recurring";

export interface ScopePart {
  label: string;
  values: string[];
}

/** The parts of a finding's scope that are not empty. */
export function scopeOf({ scope }: FindingRow): ScopePart[] {
  const parts: ScopePart[] = [
    { label: "Agents", values: scope.agent_ids },
    { label: "Environments", values: scope.environments },
    { label: "Tools", values: scope.tool_names },
    { label: "Hooks", values: scope.hook_names },
    { label: "Models", values: scope.models },
    { label: "Error types", values: scope.error_types },
    { label: "Event types", values: scope.event_types },
  ];
  return parts.filter(({ values }) => values.length > 0);
}

/** "error_cluster" → "Error cluster" */
export function words(name: string): string {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export interface NumberOf {
  label: string;
  value: string;
}

/** A number of the evidence with its unit: shares are percentages, times are durations. */
export function numberOf(name: string, value: number): NumberOf {
  if (/_(rate|fill)(_|$)/.test(name)) return { label: words(name), value: percent(value) };
  if (name.endsWith("_ms")) return { label: words(name.slice(0, -3)), value: duration(value) };
  return { label: words(name), value: Number.isInteger(value) ? compact(value) : decimal(value) };
}

// Names of the number of affected sessions. Where a signal has one of the first, `sessions` counts all.
const AFFECTED = ["failed_sessions", "filled_sessions", "outlier_sessions", "abandoned_sessions", "sessions"];

/** The sentence over the evidence: it holds the newest 20 sessions. */
export function sessionsText({ evidence: { session_ids, numbers } }: Pick<FindingRow, "evidence">): string {
  const all = AFFECTED.map((name) => numbers[name]).find((number) => number !== undefined);
  const shown = session_ids.length;
  return all !== undefined && all > shown
    ? `the newest ${shown} of ${plural(all, "session")}`
    : plural(shown, "session");
}
