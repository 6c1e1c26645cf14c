import type { ActivityRow, CommentRow, IncidentDetail, IncidentRow } from "../api/types";
import { decimal, exact, percent, plural } from "../kit/text/formats";

/** The actor of what the service does by itself. */
export const SYSTEM = "system";

export interface Section {
  title: "Firing" | "Acknowledged" | "Resolved";
  rows: IncidentRow[];
}

/** The regions of the list. */
export function sections(rows: readonly IncidentRow[]): Section[] {
  const of = (state: IncidentRow["state"]) => rows.filter((row) => row.state === state);
  return [
    { title: "Firing", rows: of("firing") },
    { title: "Acknowledged", rows: of("acknowledged") },
    { title: "Resolved", rows: of("resolved") },
  ];
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? `${value}` : "";
}

/** How values of a metric are written: the error rate is a percentage. */
export function formatOf(metric: unknown): (value: number) => string {
  return metric === "error_rate" ? percent : (value) => (Number.isInteger(value) ? exact(value) : decimal(value));
}

/**
 * What breached: a rate with its bound from the numbers that were compared, everything else in the words of the server.
 */
export function breachText(summary: string, compared: Record<string, unknown> | null): string {
  const { metric, value, op, bound } = compared ?? {};
  if (metric !== "error_rate" || typeof value !== "number" || typeof bound !== "number") return summary;
  return summary.includes(percent(value)) ? summary : `${metric} was ${percent(value)} (${text(op)} ${percent(bound)})`;
}

/** The sentence of an entry of the history. Its actor comes first, unless it is the service itself. */
export function activityText({ kind, actor, detail }: ActivityRow, source: IncidentRow["source"]): string {
  const summary = text(detail["summary"]) && `: ${breachText(text(detail["summary"]), detail)}`;
  const byRule = actor === SYSTEM;
  const byAudit = byRule && source === "audit";
  switch (kind) {
    case "opened":
      return `${byAudit ? "Opened by the audit" : byRule ? "Opened by the rule" : "opened it"}${summary}`;
    case "acknowledged":
      return "acknowledged it";
    case "assigned": {
      const names = Array.isArray(detail["assignees"])
        ? detail["assignees"].map(text).join(", ")
        : text(detail["assigned_to"]);
      return names ? `assigned it to ${names}` : "removed the assignees";
    }
    case "commented":
      return "commented";
    case "comment_deleted":
      return "deleted a comment";
    case "subscribed":
      return `subscribed ${text(detail["email"])}`.trim();
    case "unsubscribed":
      return `unsubscribed ${text(detail["email"])}`.trim();
    case "breached": {
      const count = Number(detail["count"] ?? 1);
      const verb = byAudit ? "Found" : byRule ? "Breached" : "breached";
      return `${verb} ${count === 1 ? "once more" : `${count} more times`}${summary}`;
    }
    case "resolved":
      return byRule ? "Resolved by itself" : "resolved it";
  }
}

export interface Entry {
  activity: ActivityRow;
  /** The comment that a "commented" entry made, while it is not deleted. */
  comment: CommentRow | null;
}

/** The history with the comments in their places. */
export function entries({ activity, comments }: IncidentDetail): Entry[] {
  const left = [...comments];
  return activity.map((one) => {
    if (one.kind !== "commented") return { activity: one, comment: null };
    const index = left.findIndex(
      (comment) => comment.id === one.detail["comment_id"] || comment.author_email === one.actor,
    );
    return { activity: one, comment: index < 0 ? null : left.splice(index, 1)[0]! };
  });
}

type EventFilters = Record<string, string | boolean>;

export interface Evidence {
  /** The filters of GET /events that find what was counted; null where no events were. */
  query: EventFilters | null;
  /** The events that show it, and their number in all, if that was counted. */
  events: number[];
  total: number | null;
  sessions: string[];
  /** How many of them there are of how much; null where none is left out. */
  sessionsShown: string | null;
  /** The rows of a statement, if that is what breached. */
  result: { columns: string[]; rows: unknown[][] } | null;
  /** "92 events, 19 errors" */
  counts: string;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function queryOf(all: Record<string, unknown>): EventFilters | null {
  const { from, to } = record(all["window"]);
  // An audit names what it found, and no filters.
  if (typeof from !== "string" || typeof to !== "string" || all["evaluation_ids"] || !all["metric"]) return null;
  const { message_contains, ...filter } = record(all["filter"]);
  const given = Object.entries(filter).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return {
    ...Object.fromEntries(given),
    // A message is part of its payload, so a search finds it, among others.
    ...(typeof message_contains === "string" ? { search: message_contains } : {}),
    ...(text(all["metric"]).startsWith("error") ? { errored: true } : {}),
    ts_from: from,
    ts_to: to,
  };
}

/** Rules keep the ids of ten rows and their sessions. Audits keep 20 sessions of those that they counted. */
function sessionsShown(all: Record<string, unknown>): string | null {
  const shown = list(all["session_ids"]).length;
  const affected = all["affected_sessions"];
  if (typeof affected === "number")
    return affected > shown ? `the newest ${shown} of ${plural(affected, "session")}` : null;
  const counts = record(all["counts"]);
  const noun = (["error", "event", "evaluation"] as const).find((one) => typeof counts[`${one}s`] === "number");
  const total = noun ? Number(counts[`${noun}s`]) : 0;
  const kept = list(all["evaluation_ids"] ?? all["event_ids"]).length;
  return noun && total > kept ? `${plural(shown, "session")} shown, of ${plural(total, noun)}` : null;
}

/** Reads the evidence of an incident, whose shape depends on its trigger. */
export function evidenceOf({ evidence }: Pick<IncidentRow, "evidence">): Evidence {
  const all = record(evidence);
  const query = queryOf(all);
  const counts = record(all["counts"]);
  const counted = Object.entries(counts).filter(([, count]) => typeof count === "number");
  const total = counts["errors"] ?? counts["events"];
  return {
    query,
    events: list(all["event_ids"]).map(Number),
    total: typeof total === "number" ? total : null,
    sessions: list(all["session_ids"]).map(text),
    sessionsShown: sessionsShown(all),
    result: Array.isArray(all["rows"])
      ? { columns: list(all["columns"]).map(text), rows: list(all["rows"]).map(list) }
      : null,
    counts: counted
      .map(([name, count]) => plural(Number(count), name.replace(/s$/, "").replaceAll("_", " ")))
      .join(", "),
  };
}

/** The parameters of the page "Events" for the filters of the API. */
export function eventsSearch(query: EventFilters): URLSearchParams {
  const names: Record<string, string> = { ts_from: "from", ts_to: "to" };
  return new URLSearchParams(Object.entries(query).map(([name, value]) => [names[name] ?? name, `${value}`]));
}
