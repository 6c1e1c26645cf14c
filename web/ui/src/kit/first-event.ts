// Commands that send one event with a key.

export type Language = "curl" | "Python";

/** The session of the event. */
export const FIRST_SESSION = "hello-1";

/** A command for a terminal that sends one session of one event. */
export function commandFor(language: Language, origin: string, secret: string, now: Date): string {
  const event = { session_id: FIRST_SESSION, timestamp: now.toISOString(), type: "agent_start", goal: "Say hello" };
  if (language === "curl")
    return `curl -sS ${origin}/v1/events -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/x-ndjson' -d '${JSON.stringify(event)}'`;
  return `python3 - <<'END'
import json, urllib.request

event = ${JSON.stringify(event)}
request = urllib.request.Request(
    "${origin}/v1/events",
    json.dumps([event]).encode(),
    {"Authorization": "Bearer ${secret}", "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())
END`;
}
