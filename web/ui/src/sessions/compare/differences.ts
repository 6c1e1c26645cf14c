// Which lines of an alignment differ: at once those with one event or with other summaries, later those whose payloads differ.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Payloads } from "../detail/payloads";
import type { Comparison } from "./load";
import { textDifferences } from "./model/align";
import { samePayloads } from "./model/payload_diff";

const WAIT_MS = 200;

export interface Differences {
  has: (line: number) => boolean;
  /** The first line that differs behind one, null without any. */
  after: (line: number) => number | null;
  /** Compares the payloads of lines that are in view. */
  look: (first: number, last: number) => () => void;
}

export function useDifferences({ left, right, aligned }: Comparison, one: Payloads, other: Payloads): Differences {
  const texts = useMemo(
    () => textDifferences(aligned!, left.outline!.summary, right.outline!.summary),
    [aligned],
  );
  const [found, setFound] = useState<ReadonlySet<number>>(new Set());
  const compared = useRef(new Set<number>());
  useEffect(() => {
    compared.current = new Set();
    setFound(new Set());
  }, [aligned]);
  const compare = async (line: number) => {
    const [i, j] = [aligned!.left[line]!, aligned!.right[line]!];
    const [a, b] = await Promise.all([one.get(left.outline!.id[i]!), other.get(right.outline!.id[j]!)]);
    if (!samePayloads(a.value, b.value)) setFound((before) => new Set([...before, line]));
  };
  const has = (line: number) => texts[line] === 1 || found.has(line);
  return {
    has,
    after: (line) => {
      for (let at = line + 1; at < texts.length; at++) if (has(at)) return at;
      return null;
    },
    look: (first, last) => {
      // Not while somebody scrolls past.
      const timer = setTimeout(() => {
        for (let line = first; line < last; line++) {
          if (texts[line] === 1 || compared.current.has(line)) continue;
          compared.current.add(line);
          compare(line).catch(() => compared.current.delete(line));
        }
      }, WAIT_MS);
      return () => clearTimeout(timer);
    },
  };
}
