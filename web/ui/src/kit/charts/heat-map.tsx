import { type Signal, signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { exact } from "../text/formats";
import { formatMoment, formatTick } from "../time/time";
import { zone } from "../time/zone";
import { Figure } from "./figure";
import { linear, timeTicks } from "./scale";
import { useWidth } from "./size";
import { Tip } from "./tip";

interface Props {
  label: string;
  /** The beginning of each column, in milliseconds since 1970. */
  times: readonly number[];
  /** The length of a column in milliseconds. */
  step: number;
  /** Names of the bands, the lowest first. */
  bands: readonly string[];
  /** counts[column][band] */
  counts: readonly (readonly number[])[];
  height?: number;
  cursor?: Signal<number | null>;
  onChoose?: ((column: number, band: number) => void) | undefined;
}

/** Where its axis begins, in pixels. */
export const HEAT_MAP_LEFT = 64;
const LEFT = HEAT_MAP_LEFT;
const RIGHT = 12;
const BOTTOM = 22;
const LEVELS = 7;

/** The token of a count: 0 is none, 7 the most. Levels are even in the square root. */
export function levelOf(count: number, most: number): number {
  return count === 0 ? 0 : Math.max(1, Math.ceil(Math.sqrt(count / most) * LEVELS));
}

/** Counts in columns of time and bands of a value. */
export function HeatMap({ label, times, step, bands, counts, height = 220, onChoose, ...props }: Props) {
  const [drawing, width] = useWidth<HTMLDivElement>();
  const own = useRef(signal<number | null>(null));
  const cursor = props.cursor ?? own.current;
  const hovered = useRef(-1);
  const from = times[0] ?? 0;
  const to = (times[times.length - 1] ?? 0) + step;
  const x = linear(from, to, LEFT, Math.max(LEFT + 1, width - RIGHT));
  const row = (height - BOTTOM) / Math.max(1, bands.length);
  const most = Math.max(1, ...counts.flat());
  const at = timeTicks(from, to, Math.max(2, Math.floor(width / 110)), zone.value);
  const column = cursor.value === null ? -1 : times.findLastIndex((time) => time <= cursor.value!);
  const table = {
    head: ["Time", ...bands],
    rows: times.map((time, index) => [
      formatMoment(new Date(time), zone.value),
      ...bands.map((_, band) => exact(counts[index]?.[band] ?? 0)),
    ]),
  };
  const point = (event: PointerEvent | MouseEvent) => {
    const box = drawing.current!.getBoundingClientRect();
    hovered.current = bands.length - 1 - Math.floor((event.clientY - box.top) / row);
    return from + ((event.clientX - box.left - LEFT) / (width - LEFT - RIGHT)) * (to - from);
  };
  return (
    <Figure label={label} table={table}>
      <div
        ref={drawing}
        class={onChoose ? "chart-area clickable" : "chart-area"}
        style={{ height: `${height}px` }}
        onPointerMove={(event) => (cursor.value = point(event))}
        onPointerLeave={() => (cursor.value = null)}
        onClick={(event) => {
          const index = times.findLastIndex((time) => time <= point(event));
          if (index >= 0 && hovered.current >= 0) onChoose?.(index, hovered.current);
        }}
      >
        {width > 0 && (
          <svg width={width} height={height}>
            {bands.map((name, band) => (
              <text
                key={name}
                class="chart-tick"
                x={LEFT - 8}
                y={(bands.length - band - 0.5) * row + 4}
                text-anchor="end"
              >
                {name}
              </text>
            ))}
            {counts.map((bandsOf, index) =>
              bandsOf.map((count, band) => {
                const level = levelOf(count, most);
                return (
                  level > 0 && (
                    <rect
                      key={`${index} ${band}`}
                      x={x(times[index]!)}
                      y={(bands.length - 1 - band) * row}
                      width={Math.max(1, x(times[index]! + step) - x(times[index]!) - 1)}
                      height={Math.max(1, row - 1)}
                      fill={`var(--seq-${level})`}
                    />
                  )
                );
              }),
            )}
            {at.at.map((moment) => (
              <text key={moment} class="chart-tick" x={x(moment)} y={height - 5} text-anchor="middle">
                {formatTick(new Date(moment), zone.value, at.step)}
              </text>
            ))}
            {column >= 0 && (
              <rect
                class="chart-column"
                x={x(times[column]!)}
                y={0}
                width={Math.max(1, x(times[column]! + step) - x(times[column]!))}
                height={height - BOTTOM}
              />
            )}
          </svg>
        )}
        {column >= 0 && (
          <Tip
            x={x(times[column]! + step / 2)}
            width={width}
            title={formatMoment(new Date(times[column]!), zone.value)}
            rows={bands
              .map((name, band) => ({ name, value: exact(counts[column]?.[band] ?? 0) }))
              .reverse()
              .filter(({ value }) => value !== "0")}
          />
        )}
      </div>
    </Figure>
  );
}
