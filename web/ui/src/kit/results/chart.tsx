import { useMemo } from "preact/hooks";
import type { QueryResult } from "../../api/types";
import { CategoryChart } from "../charts/category-chart";
import { PieChart } from "../charts/pie-chart";
import { TimeChart } from "../charts/time-chart";
import { compact, exact, plural } from "../text/formats";
import { type ChartFields, type ChartType, drawingOf, numberOf, textOf } from "./model";

interface Props {
  label: string;
  type: Exclude<ChartType, "table">;
  fields: ChartFields;
  result: QueryResult;
  height?: number | undefined;
}

/** A pie adds up the slices that it does not show. */
const WHOLE = { names: Infinity, series: 1, values: Infinity };

/** A result as a chart. Lines and areas need moments; without them every kind has bars. */
export function ResultChart({ type, ...rest }: Props) {
  return type === "kpi" ? <Kpi {...rest} /> : <Drawn {...rest} type={type} />;
}

function Drawn({ label, type, fields, result, height }: Props & { type: Exclude<ChartType, "table" | "kpi"> }) {
  const pie = type === "pie";
  const { names, times, series, places, kinds } = useMemo(
    () => drawingOf(result, fields, pie ? WHOLE : undefined),
    [result, JSON.stringify(fields), pie],
  );
  if (!series.length) return <p class="chart-nothing">There are no numbers to draw.</p>;
  if (pie) return <PieChart label={label} names={names} values={series[0]!.values.map((value) => value ?? 0)} />;
  const cut = kinds > series.length || places > names.length;
  const notes = [
    kinds > series.length && `${series.length} of ${plural(kinds, "series", "series")} shown.`,
    places > names.length && `${exact(names.length)} of ${plural(places, times ? "moment" : "row")} shown.`,
    cut && "The table has all.",
    !times &&
      type !== "stacked_bar" &&
      series.length > 1 &&
      `Only ${series[0]!.name} is drawn. Choose stacked_bar for all values.`,
  ].filter(Boolean);
  return (
    <>
      {times ? (
        <TimeChart label={label} kind={type} times={times} series={series} height={height} />
      ) : (
        <CategoryChart label={label} categories={names} series={type === "stacked_bar" ? series : series.slice(0, 1)} />
      )}
      {notes.length > 0 && <p class="chart-note">{notes.join(" ")}</p>}
    </>
  );
}

/** The first value of a result, large. */
function Kpi({ label, result, fields }: Omit<Props, "type">) {
  const name = fields.y[0] ?? result.columns[0]?.name ?? "";
  const value = result.rows[0]?.[result.columns.findIndex((column) => column.name === name)];
  const number = numberOf(value);
  return (
    <figure class="kpi" aria-label={label}>
      <b title={number === null ? undefined : exact(number)}>{number === null ? textOf(value) : compact(number)}</b>
      <span>{name}</span>
    </figure>
  );
}
