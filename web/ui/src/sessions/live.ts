import { useEffect, useRef, useState } from "preact/hooks";
import type { Query } from "../api/request";
import type { Session } from "../api/types";
import { useFirstPage } from "../kit/live";
import type { Pages } from "../kit/load";
import { listSessions } from "./api";
import { merged } from "./model";

const EVERY_MS = 3000;

interface Live {
  /** How many sessions wait until nothing moves under the pointer; null for none. */
  waiting: string | null;
  /** Puts them into the list. */
  show: () => void;
}

/** Merges page 1 into the list every 3 s. While `held()`, rows stay where they are. */
export function useLive(on: boolean, query: Query, pages: Pages<Session>, held: () => boolean): Live {
  const [waiting, setWaiting] = useState(0);
  const newest = useRef<readonly Session[]>([]);
  const key = JSON.stringify(query);
  useEffect(() => setWaiting(0), [on, key]);
  const take = (first: readonly Session[]) => {
    newest.current = first;
    const next = merged(pages.data ?? [], first, held());
    pages.set(next.rows);
    setWaiting(next.waiting);
  };
  useFirstPage({ on, key, pages, everyMs: EVERY_MS, read: (options) => listSessions(query, options), take });
  const show = () => {
    pages.set(merged(pages.data ?? [], newest.current, false).rows);
    setWaiting(0);
  };
  return { waiting: waiting ? `${waiting}` : null, show };
}
