/** How full the models' context windows were. */
import { toAxis } from "./axis";
import type { Outline } from "./outline";
import type { Scene } from "./session";

export interface ContextLine {
  /** The agent's place. */
  agent: number;
  /** Columns of the drawing, ascending, and the highest share in each. */
  columns: number[];
  fills: number[];
  /** The newest share. */
  latest: number;
}

/** A line for each agent whose models reported a share, in the order of the agents. */
export function contextByAgent({ session, axis }: Scene, width: number): ContextLine[] {
  const { outline } = session;
  const lines: (ContextLine | undefined)[] = [];
  for (let event = 0; event < outline.length; event++) {
    const fill = outline.contextFill[event]!;
    if (Number.isNaN(fill)) continue;
    const agent = outline.agent[event]!;
    const column = Math.round((toAxis(axis, (outline.ts[event]! - session.begin) / 1000) / axis.length) * width);
    const line = (lines[agent] ??= { agent, columns: [], fills: [], latest: 0 });
    const last = line.columns.length - 1;
    if (line.columns[last] === column) line.fills[last] = Math.max(line.fills[last]!, fill);
    else line.fills[line.columns.push(column) - 1] = fill;
    line.latest = fill;
  }
  return lines.filter((line) => line !== undefined);
}

// Shares have four places, so that less than this says too little about the window.
const LEAST_SHARE = 0.02;

/** The newest share, and the tokens of that model's window if they can be told; null without any. */
export function latestContext(outline: Outline): { fill: number; window: number | null } | null {
  const last = outline.contextFill.findLastIndex((fill) => !Number.isNaN(fill));
  if (last < 0) return null;
  let [tokens, shares] = [0, 0];
  for (let event = 0; event <= last; event++) {
    const fill = outline.contextFill[event]!;
    if (outline.name[event] !== outline.name[last] || Number.isNaN(fill)) continue;
    tokens += zeroIfUnknown(outline.inputTokens[event]!) + zeroIfUnknown(outline.outputTokens[event]!);
    shares += fill;
  }
  // A share is tokens by window; the sum of many is exact enough for three digits.
  return {
    fill: outline.contextFill[last]!,
    window: shares < LEAST_SHARE ? null : Number((tokens / shares).toPrecision(3)),
  };
}

const zeroIfUnknown = (value: number) => (Number.isNaN(value) ? 0 : value);
