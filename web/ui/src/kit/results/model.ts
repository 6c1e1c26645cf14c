// Results of SQL: the kinds of their columns, and the series that a chart draws of them. Pure functions.
import type { QueryResult, TileBody } from "../../api/types";
import type { Series } from "../charts/time-chart";

export type ChartType = TileBody["chart_type"];

/** The types of charts, by the API's names. */
export const CHART_TYPES: readonly ChartType[] = ["line", "area", "bar", "stacked_bar", "pie", "kpi", "table"];

/** The columns that a chart draws, by name. */
export interface ChartFields {
  /** The axis: moments, or names of categories. */
  x: string;
  /** The values. */
  y: readonly string[];
  /** A column whose values tell series apart; "" for none. */
  series: string;
}

export type ColumnKind = "number" | "moment" | "other";

/** The kind of value in a column of ClickHouse's type. */
export function kindOf(type: string): ColumnKind {
  const plain = type.replace(/^(?:(?:LowCardinality|Nullable)\()+/, "");
  if (/^(U?Int|Float|BFloat|Decimal)/.test(plain)) return "number";
  return /^Date/.test(plain) ? "moment" : "other";
}

/** A value as a number: integers beyond 2^53 and decimals come as texts. null where it is none. */
export function numberOf(value: unknown): number | null {
  if (value === null || value === undefined || value === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** A value as a text; "–" for null. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : `${value as string | number | boolean}`;
}

/** A value as a text, without the digits that binary fractions add: 862.0500000000001 is 862.05. */
export function shortNumber(value: unknown): string {
  return typeof value === "number" && !Number.isInteger(value) ? `${Number(value.toPrecision(12))}` : textOf(value);
}

/** A moment of the API, or a date, in milliseconds since 1970. null where it is none. */
export function momentOf(value: unknown): number | null {
  const at = typeof value === "string" ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? null : at;
}

/** The unit that a column of numbers seems to have, by its name and its type. */
function unitOf({ name, type }: QueryResult["columns"][number]): string {
  const named = /(?:^|_)(ms|secs|seconds|bytes|tokens|rate|share|ratio|percent|pct)(?:_|$)/.exec(name.toLowerCase());
  return named?.[1] ?? (/Float|Decimal/.test(type) ? "fraction" : "count");
}

/** The fields that fit a result: moments or names as the axis, numbers as values, but rather not ids. */
export function guessFields({ columns }: QueryResult): ChartFields {
  const named = (kind: ColumnKind) => columns.filter(({ type }) => kindOf(type) === kind).map(({ name }) => name);
  const [moments, numbers, others] = [named("moment"), named("number"), named("other")];
  const x = moments[0] ?? others[0] ?? columns[0]?.name ?? "";
  const rest = numbers.filter((name) => name !== x);
  const counted = rest.filter((name) => !/(?:^|_)id$/.test(name));
  const fit = counted.length ? counted : rest;
  // One axis has one unit: a share beside counts would be a line at zero.
  const unit = (name: string) => unitOf(columns.find((column) => column.name === name)!);
  const y = fit.filter((name) => unit(name) === unit(fit[0]!));
  return { x, y: y.slice(0, 8), series: moments.length && y.length === 1 ? (others[0] ?? "") : "" };
}

/** The fields that were chosen, as far as the result has them; the rest is guessed. */
export function fieldsFor(result: QueryResult, chosen: Partial<ChartFields>): ChartFields {
  const has = (name: string | undefined) => result.columns.some((column) => column.name === name);
  const guess = guessFields(result);
  const y = chosen.y?.filter(has) ?? [];
  const series = chosen.series === "" || has(chosen.series) ? chosen.series! : guess.series;
  return { x: has(chosen.x) ? chosen.x! : guess.x, y: y.length ? y : guess.y, series };
}

/** The data of a chart. `times` is null where the axis has names. */
export interface Drawing {
  names: string[];
  times: number[] | null;
  series: Series[];
  /** How many places and series the result has. Only the first of them are drawn. */
  places: number;
  kinds: number;
}

/** Bounds of a drawing. `values` is for all series together: each is drawn, and a cell for screen readers. */
const DRAWN = { names: 50, series: 24, values: 4000 };

/** The series of a result, as far as they can be drawn. Values of one place are added up; moments are put in order. */
export function drawingOf({ columns, rows }: QueryResult, fields: ChartFields, most = DRAWN): Drawing {
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const [x, by] = [at(fields.x), at(fields.series)];
  const ys = fields.y.map((name) => ({ name, index: at(name) }));
  const timed = x >= 0 && kindOf(columns[x]!.type) === "moment";
  const places = new Map<string, number>();
  const series = new Map<string, Map<string, number>>();
  for (const row of rows) {
    const place = textOf(row[x]);
    const moment = timed ? momentOf(row[x]) : 0;
    if (moment === null) continue;
    places.set(place, moment);
    for (const { name, index } of ys) {
      const value = numberOf(row[index]);
      if (value === null) continue;
      const key = by < 0 ? name : ys.length > 1 ? `${textOf(row[by])} ${name}` : textOf(row[by]);
      const values = series.get(key) ?? new Map<string, number>();
      values.set(place, (values.get(place) ?? 0) + value);
      series.set(key, values);
    }
  }
  let names = [...places.keys()];
  if (timed) names.sort((a, b) => places.get(a)! - places.get(b)!);
  names = names.slice(
    0,
    timed ? Math.floor(most.values / Math.max(1, Math.min(series.size, most.series))) : most.names,
  );
  return {
    names,
    times: timed ? names.map((name) => places.get(name)!) : null,
    series: [...series]
      .slice(0, most.series)
      .map(([name, values]) => ({ name, values: names.map((place) => values.get(place) ?? null) })),
    places: places.size,
    kinds: series.size,
  };
}
