// Which lines of an alignment differ: at once those with one event or with other summaries, later those whose payloads
// differ.
import { useMemo, useState } from "preact/hooks";
import type { Payloads } from "../detail/payloads";
import type { Comparison } from "./load";
import { DIFFERS, EQUAL, textDifferences } from "./model/align";
import { samePayloads } from "./model/payload-diff";

const WAIT_MS = 200;

export interface Differences {
  has: (line: number) => boolean;
  /** Whether so many lines from the first one were compared with their payloads, and all are equal. */
  areEqual: (count: number) => boolean;
  /** The first line that differs behind one, null without any. */
  after: (line: number) => number | null;
  /** Compares the payloads of lines that are in view. */
  look: (first: number, last: number) => () => void;
}

export function useDifferences({ left, right, aligned }: Comparison, one: Payloads, other: Payloads): Differences {
  const [states, asked] = useMemo(
    () => [textDifferences(aligned!, left.outline!.summary, right.outline!.summary), new Set<number>()] as const,
    [aligned],
  );
  const [, redraw] = useState(0);
  const compare = async (line: number) => {
    const [i, j] = [aligned!.left[line]!, aligned!.right[line]!];
    const [a, b] = await Promise.all([one.get(left.outline!.id[i]!), other.get(right.outline!.id[j]!)]);
    states[line] = samePayloads(a.value, b.value) ? EQUAL : DIFFERS;
    redraw((count) => count + 1);
  };
  return {
    has: (line) => states[line] === DIFFERS,
    areEqual: (count) => states.subarray(0, count).every((state) => state === EQUAL),
    after: (line) => {
      const found = states.indexOf(DIFFERS, line + 1);
      return found < 0 ? null : found;
    },
    look: (first, last) => {
      // Not while somebody scrolls past.
      const timer = setTimeout(() => {
        for (let line = first; line < last; line++) {
          if (states[line] === DIFFERS || asked.has(line)) continue;
          asked.add(line);
          compare(line).catch(() => asked.delete(line));
        }
      }, WAIT_MS);
      return () => clearTimeout(timer);
    },
  };
}
