import { FAMILIES as TABLE } from "../api/families";
import type { Query } from "../api/request";
import type { LatencyAggregate } from "../api/types";
import { duration } from "../kit/text/formats";
import type { Bounds } from "../kit/time/time";
import { changed } from "../kit/url";

/** The pairs of events that the tabs show. */
export const FAMILIES = TABLE.flatMap(({ noun, measured, start, end, key, name }) =>
  measured === null
    ? []
    : {
        id: measured,
        label: capital(measured),
        start,
        end,
        /** The column whose value both events of a pair share. */
        link: key,
        /** The column by which the table is grouped, also a filter of "Events". */
        key: name ?? "agent_id",
        /** The header of the names. */
        noun: name === null ? "Agent" : capital(noun),
      },
);

export type Family = (typeof FAMILIES)[number];

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}

const BINS = 48;
// The most that the API gives.
const MOST_NAMES = 500;
const MOST_CALLS = 500;

/** The names in the answer for pairs without a name, and for those of all smaller names. */
export const OTHER = "(other)";
const NO_NAMES: readonly string[] = ["(none)", OTHER];

/** The request of a family. */
export function queryOf(choice: Choice, order = "p95"): Query {
  return { ...pairsOf(choice), bin_count: BINS, distribution_limit: MOST_NAMES, distribution_order: order };
}

function pairsOf({ family, filters, bounds }: Choice): Query {
  return {
    ...filters,
    start_event_type: family.start,
    end_event_type: family.end,
    pair_key_paths: family.link,
    distribution_key_paths: family.key,
    ts_from: bounds.from,
    ts_to: bounds.to,
  };
}

/** The calls that are listed: those of a cell of the heat map, or of a name. */
export interface Cell {
  /** The number of the band, null for all. */
  band: number | null;
  /** A value of the family's column, null for all. */
  name: string | null;
  /** Within these bounds; those of the page if both are null. */
  bounds: Bounds;
}

/** The cell that the parameters of the page name; null for none. */
export function cellOf(param: (name: string) => string | null): Cell | null {
  const [band, name, from, to] = ["band", "name", "since", "until"].map(param);
  if (!band && !name) return null;
  return { band: band ? Number(band) : null, name: name ?? null, bounds: { from: from ?? null, to: to ?? null } };
}

/** The parameters of a cell; without one they are removed. */
export function cellParams(cell: Cell | null): Record<string, string | null> {
  return {
    band: cell?.band == null ? null : `${cell.band}`,
    name: cell?.name ?? null,
    since: cell?.bounds.from ?? null,
    until: cell?.bounds.to ?? null,
  };
}

/** The request of the calls of a cell. The outer bands are open. */
export function callsQuery(choice: Choice, cell: Cell, edges: readonly number[]): Query {
  const { band, name, bounds } = cell;
  const last = edges.length - 2;
  return {
    ...pairsOf({ ...choice, bounds: bounds.from || bounds.to ? bounds : choice.bounds }),
    ...(name === null ? {} : { [choice.family.key]: name.replaceAll(",", "\\,") }),
    latency_from: band === null || band === 0 ? null : edges[band]!,
    latency_to: band === null || band === last ? null : edges[band + 1]!,
    limit: MOST_CALLS,
  };
}

/** The names of the bands between the edges, the lowest first: "≥ 100 ms", "≥ 10 s", "≥ 5 m". */
export function bandNames(edges: readonly number[]): string[] {
  const name = (edge: number) =>
    duration(edge)
      .replace(/\.0 s$/, " s")
      .replace(/ 00 s$/, "");
  return edges.slice(0, -1).map((edge, index) => (index === 0 ? `< ${name(edges[1]!)}` : `≥ ${name(edge)}`));
}

/** The share of pairs that failed; null without pairs. */
export function failedShare({ summary: { count, error_count } }: LatencyAggregate): number | null {
  return count ? error_count / count : null;
}

/** What the parts of the page have in common: the pairs that were chosen. */
export interface Choice {
  family: Family;
  /** The parameters of the filters that are set. */
  filters: Query;
  bounds: Bounds;
}

/** The query of "Events" for the failed ends of pairs of a name. */
export function failedQuery({ family, filters, bounds }: Choice, name: string): URLSearchParams {
  return changed(new URLSearchParams(), {
    ...(filters as Record<string, string | null>),
    [family.key]: [name],
    event_type: family.end,
    errored: "true",
    from: bounds.from,
    to: bounds.to,
  });
}

/**
 * The sentence about the names that are not there one by one, null where none is missing. `order` has chosen those that
 * are.
 */
export function othersText(keys: readonly string[], order: string): string | null {
  if (!keys.includes(OTHER)) return null;
  const count = keys.filter(isName).length;
  const named = `These are the ${count} names with the highest ${order.replace("_", " ")}.`;
  return `${named} All others are together in “${OTHER}”.`;
}

/** Whether a name of the answer is that of a tool, a model, a hook or an agent. */
export function isName(key: string): boolean {
  return !NO_NAMES.includes(key);
}
