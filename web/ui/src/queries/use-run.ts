import { useRef, useState } from "preact/hooks";
import type { QueryResult } from "../api/types";
import { isAbort } from "../kit/data/load";
import { runStatement } from "./api";

/** One run of a statement. */
export interface Run {
  busy: boolean;
  /** Seconds that the server asked to wait, 0 for none. */
  waiting: number;
  /** The newest result; it stays while the next one is computed. */
  result: QueryResult | null;
  error: unknown;
  /** The statement that `result` or `error` belongs to. */
  sql: string;
  cancelled: boolean;
  start: (sql: string, params: unknown[]) => void;
  cancel: () => void;
  /** Ends what runs, and forgets the result. */
  clear: () => void;
}

const IDLE = { busy: false, waiting: 0, result: null, error: null, sql: "", cancelled: false };

/** Runs one statement at a time; a new one ends the one before. */
export function useRun(): Run {
  const [state, setState] = useState<Omit<Run, "start" | "cancel" | "clear">>(IDLE);
  const control = useRef<AbortController | null>(null);
  const start = (sql: string, params: unknown[]) => {
    control.current?.abort();
    const controller = new AbortController();
    control.current = controller;
    const change = (changes: Partial<Run>) => {
      if (control.current === controller) setState((before) => ({ ...before, ...changes }));
    };
    change({ busy: true, waiting: 0, cancelled: false });
    runStatement(sql, params, { signal: controller.signal, onWait: (waiting) => change({ waiting }) }).then(
      (result) => change({ busy: false, waiting: 0, result, error: null, sql }),
      (error: unknown) => {
        const cancelled = isAbort(error);
        change({ busy: false, waiting: 0, cancelled, ...(!cancelled && { error, result: null, sql }) });
      },
    );
  };
  const cancel = () => control.current?.abort();
  const clear = () => {
    control.current?.abort();
    control.current = null;
    setState(IDLE);
  };
  return { ...state, start, cancel, clear };
}
