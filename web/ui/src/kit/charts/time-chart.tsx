import { type Signal, signal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import { compact } from "../text/formats";
import { formatMoment } from "../time/time";
import { zone } from "../time/zone";
import { Figure } from "./figure";
import { Axes, Band, Bars, Bounds, type Limit, Line } from "./layers";
import { stack } from "./paths";
import { linear, nearest, seriesColor, ticks, timeTicks } from "./scale";
import { useWidth } from "./size";
import { Tip } from "./tip";

export interface Series {
  name: string;
  /** One for each time; null where nothing is known. */
  values: readonly (number | null)[];
  /** A CSS colour. Default: that of its index. */
  color?: string | undefined;
}

export type Kind = "line" | "area" | "bar" | "stacked_bar";

interface Props {
  label: string;
  kind: Kind;
  /** Milliseconds since 1970, ascending. For bars: the beginning of each. */
  times: readonly number[];
  series: readonly Series[];
  /** Whether values are counts, so that the axis has no fractions. */
  counts?: boolean;
  /** A value as a text, with its unit. */
  format?: (value: number) => string;
  height?: number;
  /** A horizontal line. */
  bound?: Limit | undefined;
  /** Lines beside it that are less than a bound. */
  marks?: readonly Limit[];
  /** Spans that are shaded, as pairs of moments. */
  marked?: readonly (readonly [number, number])[];
  /** Indices of times whose values get a dot: breaches of a bound. */
  dots?: readonly number[];
  /** A band between two of the series, by name: [lower, upper]. They are no lines of their own. */
  band?: readonly [string, string] | undefined;
  /** Makes the drawing choose a span. */
  onBrush?: ((from: number, to: number) => void) | undefined;
  /** The moment under the pointer; charts that share one show the same cursor. */
  cursor?: Signal<number | null>;
  /** How many milliseconds each value is about, from its time on. Lines have their points in the middle. Default: 0. */
  span?: number;
  /** Where the axis begins, in pixels: that of a drawing above it. */
  left?: number;
  /** Bounds of the axis, where they are not those of the times. */
  from?: number | undefined;
  to?: number | undefined;
}

const USUAL_LEFT = 48;
const RIGHT = 12;
const BAND = "var(--seq-2)";
const TOP = 10;
const MANY_DOTS = 50;
const BOTTOM = 22;

/** Values over time: lines, areas or bars, with axes in the chosen zone. */
export function TimeChart(props: Props) {
  const {
    label,
    kind,
    times,
    series,
    format = compact,
    height = 180,
    bound,
    marks = [],
    marked = [],
    dots = [],
    band,
    counts = false,
    span = 0,
    left = USUAL_LEFT,
    onBrush,
  } = props;
  const [drawing, width] = useWidth<HTMLDivElement>();
  const own = useRef(signal<number | null>(null));
  const cursor = props.cursor ?? own.current;
  const [brush, setBrush] = useState<[number, number] | null>(null);
  const gap = times.length > 1 ? times[1]! - times[0]! : 60_000;
  const bars = kind === "bar" || kind === "stacked_bar";
  const from = props.from ?? times[0] ?? 0;
  const to = props.to ?? (times[times.length - 1] ?? 1) + (bars ? gap : 0);
  const layers = useMemo(
    () =>
      kind === "stacked_bar" || kind === "area"
        ? stack(series)
        : series.map(({ values }) => values.map((value) => [0, value] as const)),
    [kind, series],
  );
  const tops = layers.flatMap((layer) => layer.map(([, top]) => top ?? 0));
  const axis = ticks(
    Math.min(0, ...tops),
    Math.max(bound?.value ?? 0, ...marks.map(({ value }) => value), ...tops) || 1,
    4,
    counts ? 1 : 0,
  );
  const y = linear(axis[0]!, axis[axis.length - 1]!, height - BOTTOM, TOP);
  const x = linear(from, to, left, Math.max(left + 1, width - RIGHT));
  const at = timeTicks(from, to, Math.max(2, Math.floor(width / 110)), zone.value);
  const colors = series.map((one, index) => one.color ?? seriesColor(index));
  const middle = (bars ? gap : span) / 2;
  const points = times.map((time) => time + (bars ? 0 : middle));
  const index = cursor.value === null ? -1 : nearest(times, cursor.value, middle > 0);
  const momentOf = (event: PointerEvent) => {
    const place = event.clientX - drawing.current!.getBoundingClientRect().left - left;
    return Math.max(from, Math.min(to, from + (place / (width - left - RIGHT)) * (to - from)));
  };
  const finish = (event: PointerEvent) => {
    if (!brush || !onBrush) return;
    const [start, end] = [Math.min(brush[0], momentOf(event)), Math.max(brush[0], momentOf(event))];
    setBrush(null);
    if (x(end) - x(start) > 4) onBrush(start, end);
  };
  const table = {
    head: ["Time", ...series.map(({ name }) => name)],
    rows: times.map((time, row) => [
      formatMoment(new Date(time), zone.value),
      ...series.map(({ values }) => (values[row] == null ? null : format(values[row]!))),
    ]),
  };
  const valuesOf = (name: string) => series.find((one) => one.name === name)?.values ?? [];
  const inBand = (name: string) => band?.includes(name) ?? false;
  const legend = series.map(({ name }, i) => ({ name, color: colors[i]! })).filter(({ name }) => !inBand(name));
  if (band) legend.unshift({ name: band.join("–"), color: BAND });
  return (
    <Figure label={label} table={table} legend={legend}>
      <div
        ref={drawing}
        class={onBrush ? "chart-area brushes" : "chart-area"}
        style={{ height: `${height}px` }}
        onPointerMove={(event) => {
          cursor.value = momentOf(event);
          if (brush) setBrush([brush[0], momentOf(event)]);
        }}
        onPointerLeave={() => (cursor.value = null)}
        onPointerDown={(event) => {
          if (!onBrush || event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setBrush([momentOf(event), momentOf(event)]);
        }}
        onPointerUp={finish}
        onPointerCancel={() => setBrush(null)}
      >
        {width > 0 && (
          <svg width={width} height={height}>
            {marked.map(([start, end]) => (
              <rect
                key={start}
                class="chart-marked"
                x={x(start)}
                y={TOP}
                width={Math.max(2, x(end) - x(start))}
                height={height - TOP - BOTTOM}
              />
            ))}
            <Axes
              values={axis}
              moments={at}
              x={x}
              y={y}
              left={left}
              right={width - RIGHT}
              height={height}
              format={format}
            />
            {band && (
              <Band lower={valuesOf(band[0])} upper={valuesOf(band[1])} times={points} x={x} y={y} color={BAND} />
            )}
            {layers.map((layer, i) =>
              inBand(series[i]!.name) ? null : bars ? (
                <Bars
                  key={i}
                  layer={layer}
                  times={times}
                  x={x}
                  y={y}
                  gap={gap}
                  color={colors[i]!}
                  slot={kind === "bar" ? [i, series.length] : [0, 1]}
                />
              ) : (
                <Line key={i} layer={layer} times={points} x={x} y={y} color={colors[i]!} filled={kind === "area"} />
              ),
            )}
            <Bounds bound={bound} marks={marks} y={y} left={left} right={width - RIGHT} />
            {dots.map(
              (i) =>
                series[0]?.values[i] != null && (
                  <circle
                    key={i}
                    class="chart-dot"
                    cx={x(times[i]!)}
                    cy={y(series[0].values[i])}
                    r={dots.length > MANY_DOTS ? 1.5 : dots.length > 1 ? 2.5 : 4}
                  />
                ),
            )}
            {brush && (
              <rect
                class="chart-brush"
                x={x(Math.min(...brush))}
                width={Math.abs(x(brush[1]) - x(brush[0]))}
                y={TOP}
                height={height - TOP - BOTTOM}
              />
            )}
            {index >= 0 && (
              <line
                class="chart-cursor"
                x1={x(times[index]! + middle)}
                x2={x(times[index]! + middle)}
                y1={TOP}
                y2={height - BOTTOM}
              />
            )}
          </svg>
        )}
        {index >= 0 && (
          <Tip
            x={x(times[index]! + middle)}
            width={width}
            title={formatMoment(new Date(times[index]!), zone.value)}
            rows={series.map(({ name, values }, i) => ({
              name,
              color: colors[i]!,
              value: values[index] == null ? "–" : format(values[index]!),
            }))}
          />
        )}
      </div>
    </Figure>
  );
}
