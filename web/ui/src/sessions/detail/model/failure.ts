// What an event says of its failure: the message, and the stack trace with the place of its last frame. Pure.
import { wordsOf } from "./transcript";

type Fields = Record<string, unknown>;

const TRACES = ["traceback", "stacktrace", "stack_trace", "stackTrace", "stack", "exception.stacktrace"];

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** The message of a failure, "" without one. */
export function failureOf(payload: Fields | undefined): string {
  if (!payload) return "";
  const { message } = fieldsOf(payload["error"]);
  return wordsOf(message) || wordsOf(payload["error"]) || wordsOf(payload["message"]);
}

/** The stack trace, in the event or in its error, as lines; "" without one. */
export function traceOf(payload: Fields | undefined): string {
  for (const fields of [payload ?? {}, fieldsOf(payload?.["error"]), fieldsOf(payload?.["exception"])])
    for (const name of TRACES) {
      const trace = fields[name];
      const text = Array.isArray(trace) ? trace.map(wordsOf).join("\n") : wordsOf(trace);
      if (text.trim()) return text.includes("\n") ? text.trimEnd() : text.replaceAll("\\n", "\n").trimEnd();
    }
  return "";
}

/** Whether the last frame is at the end, as in Python; in other languages it comes first. */
export function endsWithLastFrame(trace: string): boolean {
  return /most recent call last/i.test(trace);
}
