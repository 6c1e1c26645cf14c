import type { ComponentChildren } from "preact";

export interface DataTable {
  head: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

interface Props {
  label: string;
  /** The numbers of the drawing, for those who do not see it. */
  table: DataTable;
  legend?: readonly { name: string; color: string }[] | undefined;
  children: ComponentChildren;
}

/** A drawing with its legend, and its numbers as a table for screen readers. */
export function Figure({ label, table, legend = [], children }: Props) {
  return (
    <figure class="chart" aria-label={label}>
      {legend.length > 1 && (
        <ul class="legend" aria-hidden="true">
          {legend.map(({ name, color }) => (
            <li key={name}>
              <span class="dot" style={{ background: color }} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <div class="chart-drawing" aria-hidden="true">
        {children}
      </div>
      <div class="visually-hidden">
        <table aria-label={`${label}: data`}>
          <thead>
            <tr>
              {table.head.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, index) => (
              <tr key={index}>
                {row.map((value, column) => (
                  <td key={column}>{value ?? "–"}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
