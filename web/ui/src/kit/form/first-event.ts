// What sends a first event with a key: a command, or the variables of an exporter.
import { CAPTURE_VARIABLE } from "./capture";

export type Language = "curl" | "Python" | "OpenTelemetry";

/** The session of the event. */
export const FIRST_SESSION = "hello-1";

/** A command for a terminal that sends one session of one event; of OpenTelemetry the variables for an agent. */
export function commandFor(language: Language, origin: string, secret: string, now: Date): string {
  if (language === "OpenTelemetry") return variablesFor(origin, secret);
  const event = { session_id: FIRST_SESSION, timestamp: now.toISOString(), type: "agent_start", goal: "Say hello" };
  if (language === "curl") {
    const headers = `-H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/x-ndjson'`;
    return `curl -sS ${origin}/v1/events ${headers} -d '${JSON.stringify(event)}'`;
  }
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

/** The lines of docs/send/send.md: where to send, with which key, and that the messages of calls come along. */
function variablesFor(origin: string, secret: string): string {
  return `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}
export OTEL_EXPORTER_OTLP_HEADERS="x-api-key=${secret}"
export OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental
export ${CAPTURE_VARIABLE}`;
}
