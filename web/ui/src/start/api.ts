import { type Options, request } from "../api/request";
import { can } from "../api/session";
import { FIRST_SESSION } from "../kit/form/first-event";

/** A key that may only send events. `at` is before it existed. */
export interface Made {
  id: string;
  secret: string;
  at: string;
}

/** Something that arrived, with its session where that is known. */
export interface Arrival {
  session: string | null;
}

/** Creates a key that may only send events. The secret is made in this browser. */
export async function createKey(name: string, secret: string): Promise<Made> {
  const at = new Date().toISOString();
  const { id } = await request("POST /keys", { body: { name, key: secret, permissions: ["events:add"] } });
  return { id, secret, at };
}

/**
 * The id of a session that has events, null while there is none; `since`: only the command's, with events from then on.
 */
export async function anySession(since: string | null, options: Options): Promise<string | null> {
  if (!can("evaluations:read")) return null;
  const query = since ? { session_id: FIRST_SESSION, ts_from: since, limit: 1 } : { limit: 1 };
  const { sessions } = await request("GET /sessions", { query }, options);
  return sessions[0]?.session_id ?? null;
}

/** Whether a key has sent events or spans, in whichever way. Receipts know before the session can be read. */
export async function hasSent(key: Made, options: Options): Promise<boolean> {
  if (!can("events:read") && !can("settings:read")) return false;
  const { receipts } = await request("GET /receipts", { query: { key_id: key.id } }, options);
  return receipts.some(({ accepted }) => accepted > 0);
}
