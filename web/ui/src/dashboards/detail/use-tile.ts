import { useEffect, useState } from "preact/hooks";
import { pause } from "../../api/request";
import type { QueryResult, TileRow } from "../../api/types";
import { isAbort } from "../../kit/data/load";
import { boundsOf, type Range } from "../../kit/time/time";
import { runTile } from "../api";
import { queueOf } from "./queue";

const MOST_AT_ONCE = 3;
const queue = queueOf(MOST_AT_ONCE);

export interface TileState {
  /** The newest result. It stays when a later run fails. */
  result: QueryResult | null;
  error: unknown;
  busy: boolean;
  /** Seconds that a busy server asked to wait, 0 for none. */
  waiting: number;
  retry: () => void;
}

/** Runs a tile when it appears, when it or the range changes, and with each `turn`. */
export function useTile(tile: TileRow, range: Range, turn: number): TileState {
  const [state, setState] = useState<Omit<TileState, "retry">>({ result: null, error: null, busy: true, waiting: 0 });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const change = (changes: Partial<TileState>) => {
      if (!signal.aborted) setState((before) => ({ ...before, ...changes }));
    };
    change({ busy: true });
    const run = async () => {
      await pause(0, signal);
      return runTile(tile, boundsOf(range, Date.now()), { signal, onWait: (waiting) => change({ waiting }) });
    };
    queue(run).then(
      (result) => change({ result, error: null, busy: false, waiting: 0 }),
      (error: unknown) => isAbort(error) || change({ error, busy: false, waiting: 0 }),
    );
    return () => controller.abort();
  }, [tile.id, tile.updated_at, JSON.stringify(range), turn, tries]);
  return { ...state, retry: () => setTries(tries + 1) };
}
