import url from "worker:./model/align.worker.ts";
import { useEffect, useState } from "preact/hooks";
import { can } from "../../api/session";
import { useRefresh } from "../../kit/data/load";
import { startWorker } from "../../kit/worker";
import { PAGE, readOutline, readSession, type SessionDetail } from "../detail/api";
import { emptyOutline, merge, type Outline } from "../detail/model/outline";
import type { Aligned } from "./model/align";
import { symbolsOf } from "./model/symbols";

export interface Side {
  id: string;
  outline: Outline | null;
  facts: SessionDetail | null;
}

export interface Comparison {
  left: Side;
  right: Side;
  aligned: Aligned | null;
}

async function readWhole(id: string, signal: AbortSignal): Promise<Outline> {
  const ids = new Set<number>();
  let outline = emptyOutline();
  let cursor: string | null = null;
  do {
    const page = await readOutline(id, { cursor, limit: PAGE }, signal);
    outline = merge(outline, page, cursor ? "after" : "first", ids);
    cursor = page.next_cursor;
  } while (cursor);
  return outline;
}

async function readSide(id: string, signal: AbortSignal): Promise<Side> {
  const [outline, facts] = await Promise.all([
    can("events:read") ? readWhole(id, signal) : null,
    can("evaluations:read") ? readSession(id, signal) : null,
  ]);
  return { id, outline, facts };
}

function alignInWorker(left: Outline, right: Outline, signal: AbortSignal): Promise<Aligned> {
  const worker = startWorker(url);
  const [one, other] = symbolsOf(left, right);
  return new Promise<Aligned>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Aligned>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    signal.addEventListener("abort", () => reject(signal.reason as Error));
    worker.postMessage({ one, other });
  }).finally(() => worker.terminate());
}

export interface Reading {
  data: Comparison | null;
  error: unknown;
  reload: () => void;
}

/** Reads both sessions and aligns their events. */
export function useComparison(a: string, b: string): Reading {
  const [state, setState] = useState<{ data: Comparison | null; error: unknown }>({ data: null, error: null });
  const { turn, refresh } = useRefresh();
  useEffect(() => {
    if (!a || !b) return;
    const controller = new AbortController();
    const { signal } = controller;
    const read = async () => {
      const [left, right] = await Promise.all([readSide(a, signal), readSide(b, signal)]);
      const aligned = left.outline && right.outline ? await alignInWorker(left.outline, right.outline, signal) : null;
      setState({ data: { left, right, aligned }, error: null });
    };
    read().catch((error: unknown) => signal.aborted || setState((old) => ({ ...old, error })));
    return () => controller.abort();
  }, [a, b, turn]);
  return { ...state, reload: refresh };
}
