import { request, type Options } from "../api/request";
import { FIRST_SESSION } from "../kit/first-event";

/** Creates a key that may only send events. The secret is made in this browser. */
export async function createKey(name: string, secret: string): Promise<void> {
  await request("POST /keys", { body: { name, key: secret, permissions: ["events:add"] } });
}

/** The id of a session that has events, null while there is none; `since`: only the command's, with events from then on. */
export async function anySession(since: string | null, options: Options): Promise<string | null> {
  const query = since ? { session_id: FIRST_SESSION, ts_from: since, limit: 1 } : { limit: 1 };
  const { sessions } = await request("GET /sessions", { query }, options);
  return sessions[0]?.session_id ?? null;
}
