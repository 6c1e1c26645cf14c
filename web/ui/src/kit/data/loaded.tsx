import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api/errors";
import type { Load } from "./load";
import { Failed } from "./states";

const BEFORE_SKELETON_MS = 150;

/** True once the component has been shown for that long. */
export function useAfter(milliseconds: number): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), milliseconds);
    return () => clearTimeout(timer);
  }, [milliseconds]);
  return passed;
}

/** Grey rows while something is read for the first time. */
export function Skeleton({ rows = 8 }: { rows?: number }) {
  if (!useAfter(BEFORE_SKELETON_MS)) return null;
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}

/** Says how long a busy server asked to wait. */
export function Waiting({ seconds }: { seconds: number }) {
  if (seconds === 0) return null;
  return (
    <p class="notice warn" role="status">
      The server is busy. Trying again in {Math.ceil(seconds)} s.
    </p>
  );
}

interface Props<T> {
  load: Load<T>;
  /** Stands there the first time. */
  skeleton?: ComponentChildren;
  class?: string;
  children: (data: T) => ComponentChildren;
}

/** Shows an answer and its state: first skeletons, later the old content until the new one is there. */
export function Loaded<T>({ load, skeleton, class: extra, children }: Props<T>) {
  const { data, error, busy, waiting, reload } = load;
  // What one may not see any more goes, also where it was read before.
  const forbidden = error instanceof ApiError && error.status === 403;
  return (
    <div class={extra ? `loaded ${extra}` : "loaded"} aria-busy={busy}>
      <Waiting seconds={waiting} />
      {error !== null && <Failed error={error} onRetry={reload} />}
      {!forbidden && (data === undefined ? !error && (skeleton ?? <Skeleton />) : children(data))}
    </div>
  );
}
