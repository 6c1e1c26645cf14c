import { compact, exact, percent } from "../text/formats";
import { Figure } from "./figure";
import { seriesColor } from "./scale";

interface Props {
  label: string;
  names: readonly string[];
  values: readonly number[];
}

const SLICES = 8;
const RADIUS = 80;
const HOLE = 48;

/** The largest values, and the sum of the rest as "other". */
export function slicesOf(names: readonly string[], values: readonly number[]): { name: string; value: number }[] {
  const all = names.map((name, index) => ({ name, value: values[index] ?? 0 })).filter(({ value }) => value > 0);
  all.sort((a, b) => b.value - a.value);
  if (all.length <= SLICES) return all;
  const rest = all.slice(SLICES - 1).reduce((sum, { value }) => sum + value, 0);
  return [...all.slice(0, SLICES - 1), { name: "other", value: rest }];
}

/** A slice of the ring between two shares of the whole. */
function ringPath(from: number, to: number): string {
  // A slice of everything has no two ends, so it stops just before.
  const end = Math.min(to, from + 0.9999);
  const point = (share: number, radius: number) =>
    `${(Math.sin(share * 2 * Math.PI) * radius).toFixed(2)} ${(-Math.cos(share * 2 * Math.PI) * radius).toFixed(2)}`;
  const large = end - from > 0.5 ? 1 : 0;
  const arc = (radius: number, turn: 0 | 1, to: number) =>
    `A${radius} ${radius} 0 ${large} ${turn} ${point(to, radius)}`;
  return `M${point(from, RADIUS)}${arc(RADIUS, 1, end)}L${point(end, HOLE)}${arc(HOLE, 0, from)}Z`;
}

/** Shares of a whole as a ring, with their names and numbers beside it. */
export function PieChart({ label, names, values }: Props) {
  const slices = slicesOf(names, values);
  const whole = slices.reduce((sum, { value }) => sum + value, 0);
  const shares = slices.map(({ value }) => value / (whole || 1));
  const before = shares.map((_, index) => shares.slice(0, index).reduce((sum, share) => sum + share, 0));
  const table = {
    head: ["Name", "Value", "Share"],
    rows: slices.map(({ name, value }, index) => [name, exact(value), percent(shares[index]!)]),
  };
  return (
    <Figure label={label} table={table}>
      <div class="pie-chart">
        <svg viewBox={`${-RADIUS} ${-RADIUS} ${2 * RADIUS} ${2 * RADIUS}`}>
          {shares.map((share, index) => (
            <path key={index} d={ringPath(before[index]!, before[index]! + share)} fill={seriesColor(index)} />
          ))}
        </svg>
        <ul>
          {slices.map(({ name, value }, index) => (
            <li key={name}>
              <span class="dot" style={{ background: seriesColor(index) }} />
              <span class="category-name mono" title={name}>
                {name}
              </span>
              <b title={exact(value)}>{compact(value)}</b>
              <small>{percent(shares[index]!)}</small>
            </li>
          ))}
        </ul>
      </div>
    </Figure>
  );
}
