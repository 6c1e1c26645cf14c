// What calls cost, by a dimension and over time. Pure functions.
import type { Query } from "../api/request";
import type { CostFigures, CostGroup, CostSeries } from "../api/types";
import type { Series } from "../kit/charts/time-chart";
import type { Bounds, Range } from "../kit/time/time";
import { joinValues, splitValues } from "../kit/url";

/** The tabs: what costs are summed by. The ids are the values of `group_by`, and filters. */
export const GROUPINGS = [
  { id: "model", label: "Model", many: "models" },
  { id: "agent_id", label: "Agent", many: "agents" },
  { id: "user_id", label: "User", many: "users" },
  { id: "agent_version", label: "Version", many: "versions" },
  { id: "environment", label: "Environment", many: "environments" },
  { id: "tag", label: "Tag", many: "tags" },
  { id: "session_id", label: "Session", many: "sessions" },
] as const;

export type Grouping = (typeof GROUPINGS)[number];

/** The grouping of the URL; the first one for anything else. */
export function groupingOf(text: string | null): Grouping {
  return GROUPINGS.find(({ id }) => id === text) ?? GROUPINGS[0];
}

export const STANDARD = "30d";
/** Without a beginning the API looks at 30 days. No call is older than this. */
const BEGINNING = "2000-01-01T00:00:00.000Z";
const DAY_MS = 86_400_000;

/** The beginning of the request, and buckets that make between a few dozen and a few hundred bars. */
export function spanOf(range: Range, { from, to }: Bounds, now: number): { ts_from: string; bucket: string } {
  const end = to ? Date.parse(to) : now;
  const days = (end - Date.parse(from ?? BEGINNING)) / DAY_MS;
  const bucket = days <= 3 ? "hour" : days <= 100 ? "day" : days <= 3000 || range.preset === "all" ? "week" : "month";
  return { ts_from: from ?? BEGINNING, bucket };
}

/** The value of a group; null for calls without one. */
export function groupValue({ key }: Pick<CostGroup, "key">, { id }: Grouping): string | null {
  return key[id] ?? null;
}

/** As many as there are colours, one of which is for all others. */
const MOST_STACKED = 7;

/** The dearest groups on top of each other, and all others, from the first bucket with calls on. */
export function stackOf(series: readonly CostSeries[], grouping: Grouping): { times: number[]; series: Series[] } {
  const total = series.find(({ key }) => key === null)?.points ?? [];
  const first = Math.max(
    0,
    total.findIndex(({ calls }) => calls > 0),
  );
  const shown = total.slice(first);
  const place = new Map(shown.map(({ ts }, index) => [ts, index]));
  const left = shown.map(({ cost_usd }) => cost_usd ?? 0);
  // A call counts for each of its tags, so theirs do not add up.
  const overlaps = grouping.id === "tag";
  const parts = series
    .filter(({ key }) => key !== null)
    .slice(0, MOST_STACKED)
    .map(({ key, points }) => {
      const values: (number | null)[] = shown.map(() => null);
      for (const { ts, cost_usd } of points) {
        const index = place.get(ts);
        if (index === undefined) continue;
        values[index] = cost_usd;
        left[index]! -= cost_usd ?? 0;
      }
      return { name: key![grouping.id] ?? "none", values };
    })
    .filter(({ values }) => values.some((value) => value));
  // Sums of numbers leave crumbs.
  const others = left.map((value) => (value > 1e-9 ? value : 0));
  const rest = !overlaps && others.some((value) => value) && { name: parts.length ? "others" : "all", values: others };
  return {
    times: shown.map(({ ts }) => Date.parse(ts)),
    series: [...parts, ...(rest ? [{ ...rest, color: parts.length ? "var(--line-2)" : "var(--cat-1)" }] : [])],
  };
}

/** The part of a whole, null without one. */
export function ratio(part: number | null, whole: number): number | null {
  return part === null || whole === 0 ? null : part / whole;
}

/** Of what was read, the share that came from a cache. */
export function cachedShare({ cache_read_tokens, input_tokens }: CostFigures): number | null {
  return ratio(cache_read_tokens, input_tokens);
}

/** Filters of sessions that costs have too. */
const OF_SESSIONS = ["session_id", "agent_id", "environment", "user_id", "agent_version", "tag", "model", "provider"];

/**
 * The query of the list of sessions, or of events, with the calls of a group: the page's filters and range, and the
 * group's value. null where no filter is about it.
 */
export function listQuery(given: Query, range: Query, grouping: Grouping, value: string | null): Query | null {
  const { id } = grouping;
  const kept = Object.entries(given).filter(([name]) => OF_SESSIONS.includes(name) || name.startsWith("attr."));
  // Of tags and attributes a call's own are missing, and those of the whole session in its list.
  const missing = splitValues(given["missing"] as string | null).filter(
    (name) => OF_SESSIONS.includes(name) && name !== "tag",
  );
  const filters: Query = {
    ...Object.fromEntries(kept),
    ...(missing.length && { missing: joinValues(missing) }),
    ...range,
  };
  if (value !== null) return { ...filters, [id]: joinValues([value]) };
  return ["user_id", "agent_version", "tag"].includes(id)
    ? { ...filters, missing: joinValues([...new Set([...missing, id])]), [id]: null }
    : null;
}
