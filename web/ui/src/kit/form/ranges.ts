// Bounds of figures, as filters write them: `key:min..max`. Pure.
import { duration, exact } from "../text/formats";
import { money } from "../text/money";

export interface Bounds {
  key: string;
  min: string;
  max: string;
}

/** What is known of a figure that lists are filtered by. */
export interface Figure {
  label: string;
  /** The unit of its fields. */
  unit?: string;
  /** So many of the filter are one of the unit. */
  scale?: number;
  show: (value: number) => string;
}

const FIGURES: Readonly<Record<string, Figure>> = {
  cost_usd: { label: "Cost", unit: "$", show: money },
  tokens: { label: "Tokens", show: exact },
  duration_ms: { label: "Duration", unit: "s", scale: 1000, show: duration },
  error_count: { label: "Errors", show: exact },
  event_count: { label: "Events", show: exact },
  model_calls: { label: "Model calls", show: exact },
};

/** A figure of sessions. One that is declared later has its name as its label. */
export function figureOf(key: string): Figure {
  return FIGURES[key] ?? { label: key, show: exact };
}

/** Takes `key:min..max` apart. The key may hold colons. */
export function parseBounds(text: string): Bounds | null {
  const match = /^(.+):([^:]*?)\.\.([^:]*)$/.exec(text);
  return match && { key: match[1]!, min: match[2]!, max: match[3]! };
}

/** "≥ 0.5", "0 – 0.5" */
export function showBounds({ min, max }: Bounds, show: Figure["show"]): string {
  const shown = (text: string) => (Number.isFinite(Number(text)) ? show(Number(text)) : text);
  if (min && max) return `${shown(min)} – ${shown(max)}`;
  return min ? `≥ ${shown(min)}` : max ? `≤ ${shown(max)}` : "";
}

/** A bound of the filter as people type it. */
export function typedBound(text: string, { scale = 1 }: Figure): string {
  return text && scale !== 1 ? `${Number(text) / scale}` : text;
}

/** A bound as the filter takes it. */
export function boundOf(typed: string, { scale = 1 }: Figure): string {
  const text = typed.trim();
  // Multiples of fractions have digits that were not typed.
  return text && scale !== 1 ? `${Number((Number(text) * scale).toFixed(3))}` : text;
}
