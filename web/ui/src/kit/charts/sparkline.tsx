import { linePath } from "./paths";
import { linear } from "./scale";

interface Props {
  values: readonly (number | null)[];
  color?: string;
  width?: number;
  height?: number;
}

/** A line without axes beside a number that says the same. */
export function Sparkline({ values, color = "var(--accent)", width = 96, height = 22 }: Props) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const y = linear(Math.min(0, ...known), Math.max(...known, 1e-9), height - 2, 2);
  const x = linear(0, values.length - 1, 0, width);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      aria-hidden="true"
      preserveAspectRatio="none"
    >
      <path
        d={linePath(
          values.map((_, index) => index),
          values,
          x,
          y,
        )}
        stroke={color}
      />
    </svg>
  );
}
