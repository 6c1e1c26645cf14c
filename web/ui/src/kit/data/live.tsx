import { useEffect, useRef } from "preact/hooks";
import { ApiError } from "../../api/errors";
import type { Options } from "../../api/request";
import type { PageOf, Pages } from "./load";

interface Source<Row> {
  on: boolean;
  pages: Pages<Row>;
  /** Names everything that the rows depend on. */
  key: string;
  everyMs: number;
  /** Reads the first page. */
  read: (options: Options) => Promise<PageOf<Row>>;
  /** Takes the rows of a first page that was read again. */
  take: (first: readonly Row[]) => void;
}

/**
 * Reads the first page of a list again and again: only while the document can be seen, and never
 * beside another read of the list.
 */
export function useFirstPage<Row>({ on, key, everyMs, ...source }: Source<Row>): void {
  const now = useRef(source);
  now.current = source;
  useEffect(() => {
    if (!on) return;
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout>;
    const isIdle = () => {
      const { data, current, busy } = now.current.pages;
      return data !== undefined && current && !busy;
    };
    const turn = async () => {
      if (!document.hidden && isIdle())
        try {
          const { rows } = await now.current.read({ signal });
          if (!signal.aborted && isIdle()) now.current.take(rows);
        } catch (error) {
          // Without the permission the list goes, and says so. Else the next turn tries again, and "Refresh" shows what
          // fails.
          if (error instanceof ApiError && error.status === 403) return now.current.pages.reload();
        }
      if (!signal.aborted) timer = setTimeout(turn, everyMs);
    };
    timer = setTimeout(turn, everyMs);
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [on, key, everyMs]);
}

interface NewRowsProps {
  /** How many rows wait: "3" or "100+". Null for none. */
  waiting: string | null;
  onShow: () => void;
}

/** The button that puts the rows into a list which wait there, so that nothing moves by itself. */
export function NewRows({ waiting, onShow }: NewRowsProps) {
  if (waiting === null) return null;
  return (
    <button type="button" class="new-rows" onClick={onShow}>
      {waiting} new
    </button>
  );
}
