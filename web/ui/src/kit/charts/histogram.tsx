import { decimal, exact } from "../text/formats";
import { Figure } from "./figure";
import { linear, ticks } from "./scale";
import { useWidth } from "./size";

interface Props {
  label: string;
  min: number;
  max: number;
  /** Counts of equal bins between the two. */
  counts: readonly number[];
  height?: number;
  format?: (value: number) => string;
}

/** Draws the number of values in each of some equal bins. */
export function Histogram({ label, min, max, counts: bins, height = 140, format = decimal }: Props) {
  const [drawing, width] = useWidth<HTMLDivElement>();
  // Values that are all the same have no bins between them.
  const counts = min < max ? bins : [bins.reduce((sum, count) => sum + count, 0)];
  const axis = ticks(0, Math.max(1, ...counts), 3, 1);
  const y = linear(0, axis[axis.length - 1]!, height - 20, 8);
  const x = linear(0, counts.length, 40, Math.max(41, width - 10));
  const step = x(1) - x(0);
  const bar = Math.min(48, Math.max(1, step - 2));
  const edge = (index: number) => min + ((max - min) * index) / counts.length;
  const table = {
    head: ["From", "To", "Count"],
    rows: counts.map((count, index) => [format(edge(index)), format(edge(index + 1)), exact(count)]),
  };
  const labelled = counts.length > 12 ? Math.ceil(counts.length / 6) : 1;
  return (
    <Figure label={label} table={table}>
      <div ref={drawing} style={{ height: `${height}px` }}>
        {width > 0 && (
          <svg width={width} height={height}>
            {axis.map((value) => (
              <g key={value}>
                <line class="chart-grid" x1={40} x2={width - 10} y1={y(value)} y2={y(value)} />
                <text class="chart-tick" x={32} y={y(value) + 4} text-anchor="end">
                  {exact(value)}
                </text>
              </g>
            ))}
            {counts.map((count, index) => (
              <rect
                key={index}
                class="chart-bin"
                x={x(index) + (step - bar) / 2}
                y={y(count)}
                width={bar}
                height={y(0) - y(count)}
              >
                <title>{`${format(edge(index))} – ${format(edge(index + 1))}: ${exact(count)}`}</title>
              </rect>
            ))}
            {min < max &&
              counts.map(
                (_, index) =>
                  index % labelled === 0 && (
                    <text key={index} class="chart-tick" x={x(index)} y={height - 4} text-anchor="middle">
                      {format(edge(index))}
                    </text>
                  ),
              )}
            <text
              class="chart-tick"
              x={min < max ? x(counts.length) : x(0.5)}
              y={height - 4}
              text-anchor={min < max ? "end" : "middle"}
            >
              {format(max)}
            </text>
          </svg>
        )}
      </div>
    </Figure>
  );
}
