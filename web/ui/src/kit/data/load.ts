// Reading from the server into a component: one answer (`useLoad`) or a list (`usePages`).
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Options } from "../../api/request";
import { remember, remembered } from "../router";

export interface Load<T> {
  /** The newest answer. It stays while the next one is read. */
  data: T | undefined;
  /** Whether `data` is the answer for the present key, not an older one. */
  current: boolean;
  error: unknown;
  busy: boolean;
  /** Seconds that a busy server asked to wait, 0 for none. */
  waiting: number;
  reload: () => void;
  /** Replaces the data, after a change that the page made itself. */
  set: (data: T) => void;
}

interface State<T> {
  data: T | undefined;
  /** The key that `data` is the answer for. */
  key: string | null;
  error: unknown;
  busy: boolean;
  waiting: number;
}

const START = { data: undefined, key: null, error: null, busy: true, waiting: 0 };

/** Whether an error is the end of a request that nobody waits for any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export interface Refresh {
  /** How often it was refreshed: a part of the key of what is read again. */
  turn: number;
  refresh: () => void;
}

/** Counts refreshes. */
export function useRefresh(): Refresh {
  const [turn, setTurn] = useState(0);
  const refresh = useCallback(() => setTurn((count) => count + 1), []);
  return { turn, refresh };
}

/** Everything that an answer depends on; null reads nothing. */
export type Key = string | readonly unknown[] | null;

/** Reads when the component appears, when `asked` changes, and on `reload()`. */
export function useLoad<T>(asked: Key, read: (options: Options) => Promise<T>): Load<T> {
  const key = asked === null || typeof asked === "string" ? asked : JSON.stringify(asked);
  const [state, setState] = useState<State<T>>({ ...START, busy: key !== null });
  const { turn, refresh: reload } = useRefresh();
  const reader = useRef(read);
  reader.current = read;
  useEffect(() => {
    if (key === null) return;
    const controller = new AbortController();
    const { signal } = controller;
    const change = (changes: Partial<State<T>>) => {
      if (!signal.aborted) setState((before) => ({ ...before, ...changes }));
    };
    change({ busy: true, waiting: 0 });
    reader.current({ signal, onWait: (waiting) => change({ waiting }) }).then(
      (data) => change({ data, key, error: null, busy: false, waiting: 0 }),
      (error: unknown) => change({ error, busy: false, waiting: 0 }),
    );
    return () => controller.abort();
  }, [key, turn]);
  const set = useCallback((data: T) => setState((before) => ({ ...before, data })), []);
  const { key: answered, ...rest } = state;
  return { ...rest, current: answered === key, reload, set };
}

/** Reads again and again while something is under way, in a tab that somebody looks at. */
export function useAgain(
  underWay: boolean,
  { busy, reload }: Pick<Load<unknown>, "busy" | "reload">,
  everyMs: number,
): void {
  useEffect(() => {
    if (!underWay || busy) return;
    const timer = setInterval(() => document.hidden || reload(), everyMs);
    return () => clearInterval(timer);
  }, [underWay, busy, reload]);
}

export interface PageOf<Row> {
  rows: readonly Row[];
  /** null on the last page. */
  next: string | null;
}

export interface Pages<Row> extends Load<readonly Row[]> {
  hasMore: boolean;
  more: () => void;
}

const ROWS = "rows";

type MoreState = Pick<State<unknown>, "busy" | "error" | "waiting">;
const NO_MORE: MoreState = { busy: false, error: null, waiting: 0 };

/**
 * Reads a list page by page, as `useLoad` does. After Back or a reload it reads as many rows as
 * were there before.
 */
export function usePages<Row>(
  key: Key,
  read: (cursor: string | null, options: Options) => Promise<PageOf<Row>>,
): Pages<Row> {
  const [next, setNext] = useState<string | null>(null);
  const moreControl = useRef<AbortController | null>(null);
  const wanted = useRef(remembered<number>(ROWS) ?? 0);
  const load = useLoad<readonly Row[]>(key, async (options) => {
    moreControl.current?.abort();
    let page = await read(null, options);
    let rows = page.rows;
    while (page.next && rows.length < wanted.current) {
      page = await read(page.next, options);
      rows = [...rows, ...page.rows];
    }
    wanted.current = 0;
    setNext(page.next);
    return rows;
  });
  const [moreState, setMoreState] = useState<MoreState>(NO_MORE);
  const { data, set } = load;
  const more = () => {
    if (next === null || moreState.busy || load.busy) return;
    const controller = new AbortController();
    moreControl.current = controller;
    const onWait = (waiting: number) =>
      !controller.signal.aborted && setMoreState({ busy: true, error: null, waiting });
    onWait(0);
    read(next, { signal: controller.signal, onWait }).then(
      (page) => {
        setMoreState(NO_MORE);
        if (controller.signal.aborted) return;
        const rows = [...(data ?? []), ...page.rows];
        set(rows);
        setNext(page.next);
        remember(ROWS, rows.length);
      },
      (error: unknown) => setMoreState({ ...NO_MORE, error: isAbort(error) ? null : error }),
    );
  };
  return {
    ...load,
    busy: load.busy || moreState.busy,
    error: load.error ?? moreState.error,
    waiting: load.waiting || moreState.waiting,
    hasMore: next !== null,
    more,
  };
}
