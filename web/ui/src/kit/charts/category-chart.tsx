import { compact } from "../text/formats";
import { Figure } from "./figure";
import { seriesColor } from "./scale";
import type { Series } from "./time-chart";

interface Props {
  label: string;
  categories: readonly string[];
  /** Several series are stacked. */
  series: readonly Series[];
  format?: (value: number) => string;
  onChoose?: ((category: string) => void) | undefined;
}

/** Horizontal bars, one for each category, with its total behind it. */
export function CategoryChart({ label, categories, series, format = compact, onChoose }: Props) {
  const totals = categories.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const most = Math.max(...totals, 1e-9);
  const colors = series.map((one, index) => one.color ?? seriesColor(index));
  const table = {
    head: ["Name", ...series.map(({ name }) => name)],
    rows: categories.map((name, index) => [
      name,
      ...series.map(({ values }) => (values[index] == null ? null : format(values[index]!))),
    ]),
  };
  const legend = series.map(({ name }, index) => ({ name, color: colors[index]! }));
  return (
    <Figure label={label} table={table} legend={legend}>
      <ul class="category-chart">
        {categories.map((name, index) => (
          <li key={name} class={onChoose ? "clickable" : undefined} onClick={() => onChoose?.(name)}>
            <span class="category-name mono" title={name}>
              {name}
            </span>
            <span class="category-bar">
              {series.map(({ name: part, values }, i) => {
                const value = values[index] ?? 0;
                return (
                  value > 0 && (
                    <i
                      key={part}
                      style={{ width: `${(value / most) * 100}%`, background: colors[i] }}
                      title={`${part}: ${format(value)}`}
                    />
                  )
                );
              })}
              <small>{format(totals[index]!)}</small>
            </span>
          </li>
        ))}
      </ul>
    </Figure>
  );
}
