/** What makes the instrumentations of OpenTelemetry record the contents of calls. */
export const CAPTURE_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY";
