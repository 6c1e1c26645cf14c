import type { ActivityRow, CommentRow, IncidentDetail, IncidentRow } from "../api/types";
import { eventConditions } from "../kit/event-conditions";
import { percent, plural } from "../kit/formats";
import { where } from "../kit/sql";

/** The actor of what the service does by itself. */
export const SYSTEM = "system";
const RESOLVED_DAYS = 7;
const DAY_MS = 86_400_000;

export interface Section {
  title: "Firing" | "Acknowledged" | "Resolved";
  rows: IncidentRow[];
}

/** The regions of the list. Resolved incidents stay for a week. */
export function sections(rows: readonly IncidentRow[], now: Date): Section[] {
  const since = now.getTime() - RESOLVED_DAYS * DAY_MS;
  const of = (state: IncidentRow["state"]) => rows.filter((row) => row.state === state);
  return [
    { title: "Firing", rows: of("firing") },
    { title: "Acknowledged", rows: of("acknowledged") },
    { title: "Resolved", rows: of("resolved").filter(({ resolved_at }) => Date.parse(resolved_at ?? "") >= since) },
  ];
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? `${value}` : "";
}

/** A summary as people read it: rates are percentages, "error_rate was 10.7 % over the last 4 h (> 5.0 %)". */
export function summaryText(summary: string): string {
  const rate = /^(\w+_rate was )([\d.e-]+)( .*\([<>=]+ )([\d.e-]+)\)$/.exec(summary);
  return rate ? `${rate[1]}${percent(Number(rate[2]))}${rate[3]}${percent(Number(rate[4]))})` : summary;
}

/** The sentence of an entry of the history. Its actor comes first, unless it is the service itself. */
export function activityText({ kind, actor, detail }: ActivityRow): string {
  const summary = text(detail["summary"]) && `: ${summaryText(text(detail["summary"]))}`;
  const byRule = actor === SYSTEM;
  switch (kind) {
    case "opened":
      return `${byRule ? "Opened by the rule" : "opened it"}${summary}`;
    case "acknowledged":
      return "acknowledged it";
    case "assigned": {
      const names = Array.isArray(detail["assignees"]) ? detail["assignees"].map(text).join(", ") : text(detail["assigned_to"]);
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
      return `${byRule ? "Breached" : "breached"} ${count === 1 ? "once more" : `${count} more times`}${summary}`;
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
    const index = left.findIndex((comment) => comment.id === one.detail["comment_id"] || comment.author_email === one.actor);
    return { activity: one, comment: index < 0 ? null : left.splice(index, 1)[0]! };
  });
}

type EventFilters = Record<string, string | boolean>;

export interface Evidence {
  /** The filters of GET /events that find what was counted; null where no events were. */
  query: EventFilters | null;
  /** The events to show, where the filters find more than what breached; null for the newest ones. */
  chosen: readonly number[] | null;
  sessions: string[];
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
  if (typeof from !== "string" || typeof to !== "string" || all["evaluation_ids"]) return null;
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

/** Reads the evidence of an incident, whose shape depends on its trigger. */
export function evidenceOf({ evidence }: Pick<IncidentRow, "evidence">): Evidence {
  const all = record(evidence);
  const query = queryOf(all);
  const slowest = text(all["metric"]).endsWith("_ms");
  const counted = Object.entries(record(all["counts"])).filter(([, count]) => typeof count === "number");
  return {
    query,
    chosen: query && (slowest || "search" in query) ? list(all["event_ids"]).map(Number) : null,
    sessions: list(all["session_ids"]).map(text),
    result: Array.isArray(all["rows"]) ? { columns: list(all["columns"]).map(text), rows: list(all["rows"]).map(list) } : null,
    counts: counted.map(([name, count]) => plural(Number(count), name.replace(/s$/, "").replaceAll("_", " "))).join(", "),
  };
}

/** A statement that lists the events of the evidence. */
export function evidenceSql(query: EventFilters): string {
  return `SELECT ts, event_type, agent_id, session_id, environment, summary, id
FROM events${where(eventConditions(query) ?? [])}
ORDER BY ts DESC, id DESC
LIMIT 1000`;
}

/** The parameters of the page "Events" for the filters of the API. */
export function eventsSearch(query: EventFilters): URLSearchParams {
  const names: Record<string, string> = { ts_from: "from", ts_to: "to" };
  return new URLSearchParams(Object.entries(query).map(([name, value]) => [names[name] ?? name, `${value}`]));
}
