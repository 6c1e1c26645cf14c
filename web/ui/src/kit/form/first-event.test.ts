import assert from "node:assert/strict";
import { test } from "node:test";
import { commandFor } from "./first-event";

test("the command is for this origin and holds the secret", () => {
  const now = new Date("2026-11-02T08:00:00Z");
  const line = commandFor("curl", "http://127.0.0.1:8000", "wp_x", now);
  assert.ok(line.startsWith("curl -sS http://127.0.0.1:8000/v1/events -H 'Authorization: Bearer wp_x'"));
  assert.equal(line.includes("\n"), false);
  assert.ok(commandFor("Python", "http://127.0.0.1:8000", "wp_x", now).includes('"Bearer wp_x"'));
});

test("the variables of OpenTelemetry name the receiver, the key, and the messages", () => {
  const lines = commandFor("OpenTelemetry", "http://127.0.0.1:8000", "wp_x", new Date(0)).split("\n");
  assert.deepEqual(lines, [
    "export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:8000",
    'export OTEL_EXPORTER_OTLP_HEADERS="x-api-key=wp_x"',
    "export OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
    "export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
  ]);
});
