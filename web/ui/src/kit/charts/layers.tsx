// What a chart over time draws: its axes, lines, bars, and the band between two series.
import { formatTick } from "../time/time";
import { zone } from "../time/zone";
import { areaPath, linePath } from "./paths";
import type { timeTicks } from "./scale";

interface AxesProps {
  values: readonly number[];
  moments: ReturnType<typeof timeTicks>;
  x: (moment: number) => number;
  y: (value: number) => number;
  /** The edges of the drawing in pixels. */
  left: number;
  right: number;
  height: number;
  format: (value: number) => string;
}

export function Axes({ values, moments, x, y, left, right, height, format }: AxesProps) {
  return (
    <>
      {values.map((value) => (
        <g key={value}>
          <line class="chart-grid" x1={left} x2={right} y1={y(value)} y2={y(value)} />
          <text class="chart-tick" x={left - 8} y={y(value) + 4} text-anchor="end">
            {format(value)}
          </text>
        </g>
      ))}
      {moments.at.map((moment) => (
        <text key={moment} class="chart-tick" x={x(moment)} y={height - 5} text-anchor="middle">
          {formatTick(new Date(moment), zone.value, moments.step)}
        </text>
      ))}
    </>
  );
}

export interface Limit {
  value: number;
  label: string;
}

interface BoundsProps extends Pick<AxesProps, "y" | "left" | "right"> {
  bound: Limit | undefined;
  marks: readonly Limit[];
}

/** Horizontal lines: the bound with its label on the left, marks with theirs on the right. */
export function Bounds({ bound, marks, y, left, right }: BoundsProps) {
  const line = ({ value }: Limit) => <line class="chart-bound" x1={left} x2={right} y1={y(value)} y2={y(value)} />;
  return (
    <>
      {marks.map((mark) => (
        <g key={mark.value} class="chart-mark">
          {line(mark)}
          <text class="chart-bound-label" x={right} y={y(mark.value) - 4} text-anchor="end">
            {mark.label}
          </text>
        </g>
      ))}
      {bound && (
        <g>
          {line(bound)}
          <text class="chart-bound-label" x={left + 4} y={y(bound.value) - 4}>
            {bound.label}
          </text>
        </g>
      )}
    </>
  );
}

interface BarsProps {
  layer: readonly (readonly [number, number | null])[];
  times: readonly number[];
  x: (moment: number) => number;
  y: (value: number) => number;
  gap: number;
  color: string;
  /** Which of how many bars beside each other. */
  slot: readonly [number, number];
}

export function Bars({ layer, times, x, y, gap, color, slot: [place, places] }: BarsProps) {
  const full = Math.max(1, x(times[0]! + gap) - x(times[0]!) - (places > 1 ? 3 : 1));
  const width = Math.max(1, full / places);
  return (
    <g fill={color}>
      {layer.map(([bottom, top], i) => {
        if (top === null || top === bottom) return null;
        const [high, low] = [Math.min(y(top), y(bottom)), Math.max(y(top), y(bottom))];
        return (
          <rect key={i} x={x(times[i]!) + place * width} y={high} width={width} height={Math.max(1, low - high)} />
        );
      })}
    </g>
  );
}

interface LineProps extends Pick<BarsProps, "layer" | "times" | "x" | "y" | "color"> {
  /** Whether the area below the line is filled. */
  filled: boolean;
}

export function Line({ layer, times, x, y, color, filled }: LineProps) {
  const tops = layer.map(([, top]) => top);
  return (
    <g>
      {filled && <path d={areaPath(times, layer, x, y)} fill={color} opacity="0.25" />}
      <path class="chart-line" d={linePath(times, tops, x, y)} stroke={color} />
    </g>
  );
}

interface BandProps extends Pick<BarsProps, "times" | "x" | "y" | "color"> {
  lower: readonly (number | null)[];
  upper: readonly (number | null)[];
}

export function Band({ lower, upper, times, x, y, color }: BandProps) {
  const layer = times.map((_, i) =>
    lower[i] == null || upper[i] == null ? ([0, null] as const) : ([lower[i], upper[i]] as const),
  );
  return <path d={areaPath(times, layer, x, y)} fill={color} />;
}
