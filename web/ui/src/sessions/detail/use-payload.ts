import { useEffect, useState } from "preact/hooks";
import type { Payload, Payloads } from "./payloads";

export interface Loading {
  payload: Payload | null;
  error: unknown;
}

/** The payload of an event, null while it is on its way. @param event its id; null reads nothing */
export function usePayload(payloads: Payloads, event: number | null): Loading {
  const [loaded, setLoaded] = useState<Loading & { event: number | null }>({ event: null, payload: null, error: null });
  const known = event === null ? undefined : payloads.peek(event);
  useEffect(() => {
    // Not what is known by now: it may have come since this was drawn.
    if (event === null || known) return;
    let current = true;
    payloads.get(event).then(
      (payload) => current && setLoaded({ event, payload, error: null }),
      (error: unknown) => current && setLoaded({ event, payload: null, error }),
    );
    return () => void (current = false);
  }, [payloads, event]);
  if (known) return { payload: known, error: null };
  return loaded.event === event ? loaded : { payload: null, error: null };
}
