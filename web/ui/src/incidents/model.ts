import type {
  ActivityRow,
  BreachedDetail,
  BudgetFacts,
  CommentRow,
  IncidentDetail,
  IncidentEvidence,
  IncidentRow,
  OpenedDetail,
} from "../api/types";
import type { FieldsOf } from "../kit/data/fields-of";
import { attributeValue } from "../kit/dimensions/values";
import { decimal, exact, percent, plural } from "../kit/text/formats";
import { money } from "../kit/text/money";
import { attributeParam, joinValues } from "../kit/url";

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

type Fields = FieldsOf<IncidentEvidence>;
type Compared = Pick<BreachedDetail, "metric" | "value" | "op" | "bound">;

/** The metric that a rule compared, if it is known. */
export function metricOf({ evidence }: Pick<IncidentRow, "evidence">): string | undefined {
  return evidence && "metric" in evidence ? evidence.metric : undefined;
}

/** What budgets compare. */
const SPENT = "spent_usd";

/** How values of a metric are written: the error rate is a percentage, costs are dollars. */
export function formatOf(metric: string | undefined): (value: number) => string {
  if (metric === "error_rate") return percent;
  if (metric === SPENT || metric?.startsWith("cost_")) return money;
  return (value) => (Number.isInteger(value) ? exact(value) : decimal(value));
}

/** What a budget found. */
export function spendingOf({ evidence }: Pick<IncidentRow, "evidence">): BudgetFacts | null {
  return evidence && "levels" in evidence ? evidence : null;
}

/** The levels of a budget beside its amount. Above the amount only the next one is worth its place. */
export function levelMarks({ levels, share, bound }: BudgetFacts): { value: number; label: string }[] {
  const next = levels.find((level) => level > share * 100) ?? 0;
  return levels
    .filter((level) => level !== 100 && level <= Math.max(100, share * 100, next))
    .map((level) => ({ value: (bound * level) / 100, label: `${level} %` }));
}

/** "80 %", "forecast" */
export function levelText(level: number | "forecast"): string {
  return level === "forecast" ? level : `${level} %`;
}

/** The groups that breached too while too many incidents of the rule were open; null where there are none. */
export function moreText({ evidence }: Pick<IncidentRow, "evidence">): string | null {
  const more = (evidence as Fields | null)?.groups_more;
  return more ? `${plural(more, "more group")} breached, but too many incidents of this rule were open.` : null;
}

/**
 * What breached: a rate with its bound from the numbers that were compared, everything else in the words of the server.
 */
export function breachText(summary: string, compared: IncidentEvidence | Compared | null): string {
  if (!compared || !("metric" in compared)) return summary;
  const { metric, value, op, bound } = compared;
  if (metric !== "error_rate" || typeof value !== "number" || bound === undefined) return summary;
  return summary.includes(percent(value)) ? summary : `${metric} was ${percent(value)} (${op} ${percent(bound)})`;
}

function after(detail: OpenedDetail | BreachedDetail): string {
  return detail.summary && `: ${breachText(detail.summary, detail)}`;
}

/** The sentence of an entry of the history. Its actor comes first, unless it is the service itself. */
export function activityText({ kind, actor, detail }: ActivityRow, source: IncidentRow["source"]): string {
  const byRule = actor === SYSTEM;
  const byAudit = byRule && source === "audit";
  switch (kind) {
    case "opened":
      return `${byAudit ? "Opened by the audit" : byRule ? "Opened by the rule" : "opened it"}${after(detail)}`;
    case "acknowledged":
      return "acknowledged it";
    case "assigned": {
      const names = detail.assignees.join(", ");
      return names ? `assigned it to ${names}` : "removed the assignees";
    }
    case "commented":
      return "commented";
    case "comment_deleted":
      return "deleted a comment";
    case "subscribed":
      return `subscribed ${detail.email}`;
    case "unsubscribed":
      return `unsubscribed ${detail.email}`;
    case "breached": {
      const verb = byAudit ? "Found" : byRule ? "Breached" : "breached";
      const often = detail.count === 1 ? "once more" : `${detail.count} more times`;
      return `${verb} ${often}${after(detail)}`;
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
      (comment) => comment.id === one.detail.comment_id || comment.author_email === one.actor,
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

/** Metrics of calls, and the types of events that may be calls. */
const OF_CALLS = new Set([SPENT, "cost_sum", "cost_per_session", "unpriced_calls", "model_call_count"]);
const CALLS = "model_response,tool_result";

/** A value as a filter takes it, which several are divided in by commas. */
function filterValue([name, value]: [string, string]): [string, string] {
  return [name, joinValues([name.startsWith(attributeParam("")) ? attributeValue(value) : value])];
}

/** The filters that a group adds; null where no filter finds it. */
function groupFilters(group: IncidentRow["group"]): EventFilters | null {
  const [field, value] = Object.entries(group ?? {})[0] ?? [];
  if (!field) return {};
  return value == null ? null : Object.fromEntries([filterValue([field, value])]);
}

function queryOf({ window, metric, evaluation_ids, filter }: Fields, group: IncidentRow["group"]): EventFilters | null {
  // An audit names what it found, and no filters.
  const ofGroup = groupFilters(group);
  if (!window || !metric || evaluation_ids || !ofGroup) return null;
  const { message_contains, ...given } = filter ?? {};
  return {
    ...(OF_CALLS.has(metric) ? { event_type: CALLS } : {}),
    ...Object.fromEntries(Object.entries(given).map(filterValue)),
    ...ofGroup,
    // A message is part of its payload, so a search finds it, among others.
    ...(message_contains === undefined ? {} : { search: message_contains }),
    ...(metric.startsWith("error") ? { errored: true } : {}),
    ts_from: window.from,
    ts_to: window.to,
  };
}

type Counts = FieldsOf<NonNullable<Fields["counts"]>>;

/** Rules keep the ids of ten rows and their sessions. Audits keep 20 sessions of those that they counted. */
function sessionsShown(all: Fields, counts: Counts): string | null {
  const shown = all.session_ids?.length ?? 0;
  const affected = all.affected_sessions;
  if (affected !== undefined) return affected > shown ? `the newest ${shown} of ${plural(affected, "session")}` : null;
  const noun = (["error", "event", "evaluation"] as const).find((one) => counts[`${one}s`] !== undefined);
  const total = noun ? counts[`${noun}s`]! : 0;
  const kept = (all.evaluation_ids ?? all.event_ids ?? []).length;
  return noun && total > kept ? `${plural(shown, "session")} shown, of ${plural(total, noun)}` : null;
}

/** Reads the evidence of an incident, whose shape depends on its trigger. */
export function evidenceOf({ evidence, group }: Pick<IncidentRow, "evidence" | "group">): Evidence {
  const all: Fields = evidence ?? {};
  const counts: Counts = all.counts ?? {};
  const counted = Object.entries(counts).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  return {
    query: queryOf(all, group),
    events: all.event_ids ?? [],
    total: counts.errors ?? counts.events ?? null,
    sessions: all.session_ids ?? [],
    sessionsShown: sessionsShown(all, counts),
    result: all.rows && all.columns ? { columns: all.columns, rows: all.rows } : null,
    counts: counted.map(([name, count]) => plural(count, name.replace(/s$/, "").replaceAll("_", " "))).join(", "),
  };
}

/** The parameters of the page "Events" for the filters of the API. */
export function eventsSearch(query: EventFilters): URLSearchParams {
  const names: Record<string, string> = { ts_from: "from", ts_to: "to" };
  return new URLSearchParams(Object.entries(query).map(([name, value]) => [names[name] ?? name, `${value}`]));
}
