import { useEffect, useRef, useState } from "preact/hooks";
import type { Query } from "../api/request";
import type { Session, SessionTotals } from "../api/types";
import { useFirstPage } from "../kit/data/live";
import type { Load, Pages } from "../kit/data/load";
import { listSessions } from "./api";
import { merged } from "./model";

const EVERY_MS = 3000;
const PAUSE_FACTOR = 10;

interface Live {
  /** How many sessions wait until nothing moves under the pointer; null for none. */
  waiting: string | null;
  /** Puts them into the list. */
  show: () => void;
}

/** Whether a first page has something that the rows have not: a session, an event, or a result. */
function isNews(rows: readonly Session[], first: readonly Session[]): boolean {
  const known = new Map(rows.map((row) => [row.session_id, row]));
  return first.some((row) => {
    const before = known.get(row.session_id);
    return (
      before?.event_count !== row.event_count ||
      before.latest_evaluation?.evaluation_id !== row.latest_evaluation?.evaluation_id
    );
  });
}

/**
 * Reads the figures again after news. Between two reads it waits ten times as long as one takes, so
 * that sums over many events do not keep the database busy.
 */
function useFreshTotals(totals: Load<SessionTotals>): (news: boolean) => void {
  const state = useRef({ stale: false, startedAt: 0, next: 0 });
  const { busy, reload } = totals;
  useEffect(() => {
    const now = Date.now();
    if (busy) state.current.startedAt = now;
    else state.current.next = now + PAUSE_FACTOR * (now - state.current.startedAt);
  }, [busy]);
  return (news) => {
    const { current } = state;
    current.stale ||= news;
    if (!current.stale || busy || Date.now() < current.next) return;
    current.stale = false;
    reload();
  };
}

/** Merges page 1 into the list every 3 s. While `held()`, rows stay where they are. */
export function useLive(
  on: boolean,
  query: Query,
  pages: Pages<Session>,
  held: () => boolean,
  totals: Load<SessionTotals>,
): Live {
  const refresh = useFreshTotals(totals);
  const [waiting, setWaiting] = useState(0);
  const newest = useRef<readonly Session[]>([]);
  const key = JSON.stringify(query);
  useEffect(() => {
    setWaiting(0);
    newest.current = [];
  }, [on, key]);
  const take = (first: readonly Session[]) => {
    refresh(isNews(newest.current.length ? newest.current : (pages.data ?? []), first));
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
