import type { ComponentChildren } from "preact";
import { Sparkline } from "../charts/sparkline";

export interface FigureOf {
  label: string;
  value: ComponentChildren;
  /** A second number, dim. */
  note?: ComponentChildren;
  spark?: readonly (number | null)[] | undefined;
  color?: string;
}

/** A strip of key figures, as a list of terms. */
export function Figures({ figures }: { figures: readonly FigureOf[] }) {
  return (
    <dl class="figures">
      {figures.map(({ label, value, note, spark, color }) => (
        <div key={label} class="fig">
          <dt>{label}</dt>
          <dd>
            {value}
            {note && <small>{note}</small>}
          </dd>
          {spark && <Sparkline values={spark} color={color ?? "var(--accent)"} />}
        </div>
      ))}
    </dl>
  );
}
