import { useEffect } from "preact/hooks";
import { type Refresh, useRefresh } from "../../kit/data/load";

/** Seconds between the refreshes that can be chosen. */
export const REFRESHES: Readonly<Record<string, number>> = { "30s": 30, "1m": 60, "5m": 300 };

/**
 * Counts refreshes: those by hand, and one each time the chosen interval is over. A hidden page waits until it is seen
 * again.
 */
export function useTimedRefresh(chosen: string): Refresh {
  const { turn, refresh } = useRefresh();
  useEffect(() => {
    const seconds = REFRESHES[chosen];
    if (!seconds) return;
    let due = Date.now() + seconds * 1000;
    const look = () => {
      if (document.hidden || Date.now() < due) return;
      due = Date.now() + seconds * 1000;
      refresh();
    };
    const timer = setInterval(look, 1000);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [chosen]);
  return { turn, refresh };
}
