import { useEffect, useState } from "preact/hooks";
import type { Query } from "../api/request";
import type { EventSummary } from "../api/types";
import { useFirstPage } from "../kit/data/live";
import type { Pages } from "../kit/data/load";
import { listEvents } from "./api";
import { arrived, mergedEvents } from "./model";

const EVERY_MS = 1000;
/** Above so many rows the list begins again at its first page. */
const MOST_ROWS = 5000;

interface Live {
  /** "3" or "100+": events that wait while one has scrolled away; null for none. */
  waiting: string | null;
  /** Puts them into the list. */
  show: () => void;
}

/** Reads page 1 each second. While `away()`, rows stay where they are, and new ones are counted. */
export function useLive(on: boolean, query: Query, pages: Pages<EventSummary>, away: () => boolean): Live {
  const [waiting, setWaiting] = useState<string | null>(null);
  const key = JSON.stringify(query);
  useEffect(() => setWaiting(null), [on, key]);
  const take = (first: readonly EventSummary[]) => {
    const rows = pages.data ?? [];
    const { fresh, gap } = arrived(rows, first);
    if (away()) return setWaiting(fresh.length ? `${fresh.length}${gap ? "+" : ""}` : null);
    setWaiting(null);
    if (gap || rows.length > MOST_ROWS) pages.reload();
    else if (fresh.length) pages.set(mergedEvents(rows, fresh));
  };
  useFirstPage({ on, key, pages, everyMs: EVERY_MS, read: (options) => listEvents(query, options), take });
  const show = () => {
    setWaiting(null);
    pages.reload();
  };
  return { waiting, show };
}
