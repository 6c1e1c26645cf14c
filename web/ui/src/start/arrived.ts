import { useEffect, useRef, useState } from "preact/hooks";
import type { Options } from "../api/request";
import { type Arrival, anySession, hasSent, type Made } from "./api";

const ASK_EVERY_MS = 2000;

/**
 * What has arrived, null while nothing has. In an organization without sessions the first one counts, whoever sends it.
 * In others only the session of the command counts, and all that came with the key: the rest was there before.
 */
export function useArrived(made: Made | null): Arrival | null {
  const [arrival, setArrival] = useState<Arrival | null>(null);
  const opened = useRef(new Date().toISOString());
  const others = useRef<boolean | null>(null);
  useEffect(() => {
    setArrival(null);
    const controller = new AbortController();
    const look = async (options: Options): Promise<Arrival | null> => {
      others.current ??= (await anySession(null, options)) !== null;
      const session = await anySession(others.current ? (made?.at ?? opened.current) : null, options);
      if (session !== null) return { session };
      return made && (await hasSent(made, options)) ? { session } : null;
    };
    const ask = async () => {
      if (document.hidden) return;
      const found = await look({ signal: controller.signal }).catch(() => null);
      if (found === null || controller.signal.aborted) return;
      setArrival(found);
      // The session of what has just arrived may follow.
      if (found.session !== null) clearInterval(timer);
    };
    const timer = setInterval(() => void ask(), ASK_EVERY_MS);
    void ask();
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [made]);
  return arrival;
}
