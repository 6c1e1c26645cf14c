/** How the events of a session belong together: which start to which end, and which row to which agent. */
import type { Outline } from "./outline";
import { type Pairs, pairEvents } from "./pairing";
import { buildRows, codesOf, type Rows } from "./tree";

/** The columns that decide it. */
export type Columns = Pick<Outline, "length" | "type" | "types" | "agent" | "agents" | "pair" | "ts" | "durationMs">;

export interface Structure {
  /** Codes of `familyCode`, one an event. */
  readonly codes: Uint8Array;
  readonly pairs: Pairs;
  readonly rows: Rows;
}

export function structureOf(columns: Columns): Structure {
  const codes = codesOf(columns);
  const { agent, pair: key, ts, durationMs } = columns;
  const pairs = pairEvents({ code: codes, agent, key, ts, durationMs });
  return { codes, pairs, rows: buildRows(columns, pairs, codes) };
}
