/** Turns agent, type and name of each event into a number that both sessions share; they are aligned by these. */
import type { Outline } from "../../detail/model/outline";

/** Agents correspond by the order of their first event, whatever they are called. */
export function symbolsOf(...outlines: Outline[]): Int32Array[] {
  const known = new Map<string, number>();
  return outlines.map((outline) =>
    Int32Array.from(outline.type, (type, event) => {
      const name = outline.name[event]!;
      const key = `${outline.agent[event]}\n${outline.types[type]}\n${name < 0 ? "" : outline.names[name]}`;
      let symbol = known.get(key);
      if (symbol === undefined) known.set(key, (symbol = known.size));
      return symbol;
    }),
  );
}

export interface Totals {
  /** Milliseconds from the first event to the last. */
  time: number;
  events: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
}

export function totalsOf(outline: Outline): Totals {
  const sum = (column: Float64Array) =>
    column.reduce((total, value) => (Number.isNaN(value) ? total : total + value), 0);
  return {
    time: outline.length ? (outline.ts[outline.length - 1]! - outline.ts[0]!) / 1000 : 0,
    events: outline.length,
    errors: outline.error.reduce((total, bit) => total + bit, 0),
    inputTokens: sum(outline.inputTokens),
    outputTokens: sum(outline.outputTokens),
  };
}
