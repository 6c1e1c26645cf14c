import { useEffect, useState } from "preact/hooks";

/**
 * The value, a task after the rows were drawn with it; null until the first time.
 *
 * Rows come first. The strip above them and the panel beside them each follow in a task of their own, so that no single
 * task keeps the browser from answering a key.
 */
export function useLater<T>(value: T): T | null {
  const [shown, setShown] = useState<{ value: T } | null>(null);
  useEffect(() => {
    // Effects run after the frame, but many of them in one task.
    const timer = setTimeout(() => setShown({ value }));
    return () => clearTimeout(timer);
  }, [value]);
  return shown?.value ?? null;
}
