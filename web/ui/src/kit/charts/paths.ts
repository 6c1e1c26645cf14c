// Paths of SVG for series. Pure functions.

export type Layer = readonly (readonly [bottom: number, top: number | null])[];

/** Series on top of each other: for each value its lower and its upper end. */
export function stack(series: readonly { values: readonly (number | null)[] }[]): Layer[] {
  const heights: number[] = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      const bottom = heights[index] ?? 0;
      heights[index] = bottom + (value ?? 0);
      return [bottom, value === null ? null : bottom + value] as const;
    }),
  );
}

type Scale = (value: number) => number;
const fixed = (value: number) => value.toFixed(1);

// From its middle; a point would hardly be seen.
const RING = "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0m2 0";

/** A line that breaks where a value is null. A value between two nulls becomes a ring. */
export function linePath(times: readonly number[], values: readonly (number | null)[], x: Scale, y: Scale): string {
  let path = "";
  values.forEach((value, index) => {
    if (value === null) return;
    const starts = index === 0 || values[index - 1] === null;
    const alone = starts && (values[index + 1] ?? null) === null;
    path += `${starts ? "M" : "L"}${fixed(x(times[index]!))} ${fixed(y(value))}${alone ? RING : ""}`;
  });
  return path;
}

/** The areas between the ends of a layer, one for each stretch without null. */
export function areaPath(times: readonly number[], layer: Layer, x: Scale, y: Scale): string {
  let path = "";
  let start = 0;
  while (start < layer.length) {
    if (layer[start]![1] === null) {
      start++;
      continue;
    }
    let end = start;
    while (end < layer.length && layer[end]![1] !== null) end++;
    const points = (upper: 0 | 1) =>
      layer.slice(start, end).map((ends, i) => `${fixed(x(times[start + i]!))} ${fixed(y(ends[upper]!))}`);
    path += `M${[...points(1), ...points(0).reverse()].join("L")}Z`;
    start = end;
  }
  return path;
}
