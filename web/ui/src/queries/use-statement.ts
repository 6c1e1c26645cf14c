import { useEffect, useRef, useState } from "preact/hooks";
import { session } from "../api/session";
import { param, place, remember, remembered, setQuery, typeQuery } from "../kit/router";
import type { Changes } from "../kit/url";
import { EXAMPLE, fitsUrl, type Typed, typedIn } from "./model";

const WRITTEN_AFTER_MS = 300;
/** A statement that is too long for the URL, and whether it ran, in the state of the history. */
export const LONG = "sql";
export const RAN = "run";

export interface Statement {
  sql: string;
  /** The typed text of each parameter, by its number. */
  typed: Typed;
  /** Counts the statements that came from elsewhere than the editor: from Back, Forward or a link. */
  revision: number;
  /** Whether this step of the history ran its statement. Only the UI itself can say so, never a link. */
  ran: () => boolean;
  change: (sql: string) => void;
  type: (number: number, text: string) => void;
  /** Makes a step of the history of the typed statement, which a reload runs again. */
  commit: (how?: { replace?: boolean }) => void;
  /** Makes a step that changes how the result is shown. */
  show: (changes: Changes) => void;
}

/**
 * The statement in the editor, of the saved query `id` or none (""). `sql` of the URL has it where it differs from
 * `saved` and is short enough. The tab keeps a draft of any length for the next visit.
 */
export function useStatement(org: string, id: string, saved: string | null, params: Typed): Statement {
  const storedAs = `wp-sql ${session.peek()?.id} ${org} ${id}`;
  const standard = saved ?? EXAMPLE;
  const kept = () => param("sql") ?? remembered<string>(LONG) ?? standard;
  const [{ sql, revision }, setState] = useState(() => ({
    sql: param("sql") ?? remembered<string>(LONG) ?? sessionStorage.getItem(storedAs) ?? standard,
    revision: 0,
  }));
  const newest = useRef(sql);
  // The statement as this page wrote it into the URL. A different one came from elsewhere.
  const written = useRef(signature());
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const shown = useRef("");
  const typed = typedIn(place.value.query, params);
  const follow = () => {
    written.current = signature();
    if (JSON.stringify([kept(), typedIn(place.value.query, params)]) === shown.current) return;
    clearTimeout(timer.current);
    newest.current = kept();
    setState((before) => ({ sql: newest.current, revision: before.revision + 1 }));
  };
  const newestFollow = useRef(follow);
  newestFollow.current = follow;
  const inUrl = signature();
  useEffect(() => {
    if (inUrl !== written.current) follow();
  }, [inUrl]);
  useEffect(() => void (shown.current = JSON.stringify([sql, typed])));
  useEffect(() => {
    const { pathname } = location;
    const back = () => location.pathname === pathname && newestFollow.current();
    addEventListener("popstate", back);
    return () => {
      removeEventListener("popstate", back);
      clearTimeout(timer.current);
    };
  }, []);
  /** Keeps the text in this tab, so that it is here after a visit to another page. */
  const keepDraft = (text: string) =>
    text === standard ? sessionStorage.removeItem(storedAs) : sessionStorage.setItem(storedAs, text);
  /** Writes what is in the editor into the URL, or beside it where it is too long. */
  const write = (step: (changes: Changes) => void, changes: Changes, ran: boolean) => {
    clearTimeout(timer.current);
    const text = newest.current;
    const long = text !== standard && !fitsUrl(text);
    keepDraft(text);
    step({ ...changes, sql: text === standard || long ? null : text });
    remember(LONG, long ? text : undefined);
    remember(RAN, ran);
    written.current = signature();
  };
  const ran = () => remembered<boolean>(RAN) === true;
  return {
    sql,
    typed,
    revision,
    ran,
    change: (text) => {
      if (text === newest.current) return;
      newest.current = text;
      keepDraft(text);
      setState((before) => ({ ...before, sql: text }));
      clearTimeout(timer.current);
      timer.current = setTimeout(() => write(typeQuery, {}, false), WRITTEN_AFTER_MS);
    },
    type: (number, text) => write(typeQuery, { [`p${number}`]: text }, false),
    commit: (how) => write((changes) => setQuery(changes, how), {}, true),
    show: (changes) => write(setQuery, changes, ran()),
  };
}

/** The parameters of the URL that say what runs. */
function signature(): string {
  return JSON.stringify([...place.value.query].filter(([name]) => /^(sql|p\d+)$/.test(name)));
}
