// Translates the filters of events for the API and into SQL. Pure functions.
import type { Query } from "../api/request";
import { among, literal, where, within } from "./sql";
import { splitValues } from "./url";

const COLUMNS = [
  "session_id",
  "agent_id",
  "event_type",
  "environment",
  "error_type",
  "tool_name",
  "hook_name",
  "trigger_event",
  "model",
] as const;

/** A request from the parameters of the URL. Both answers to "Failed" together exclude nothing. */
export function eventQuery(given: Query, from: string | null, to: string | null): Query {
  const failed = splitValues(given["errored"] as string | null);
  return { ...given, errored: failed.length === 1 ? failed[0]! : null, ts_from: from, ts_to: to };
}

/** Conditions of SQL on `events` that choose what the API chooses. */
export function eventConditions(query: Query): string[] {
  const found = COLUMNS.flatMap((column) => among(column, splitValues(query[column] as string | null)));
  if (query["errored"]) found.push(`${query["errored"]}` === "true" ? "is_error" : "NOT is_error");
  if (query["search"]) found.push(holds(`${query["search"]}`, splitValues(query["search_exclude"] as string | null)));
  return [...found, ...within("ts", query["ts_from"], query["ts_to"])];
}

/** A statement that lists the same events. */
export function eventsSql(query: Query): string {
  return `SELECT ts, event_type, agent_id, session_id, environment, summary, id
FROM events${where(eventConditions(query))}
ORDER BY ts DESC, id DESC
LIMIT 1000`;
}

// A string of JSON.
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
// A text that can also stand outside of one: in a number, true, false or null.
const SCALAR = /^[A-Za-z0-9.+-]*$/;
// A text that JSON writes as it is, unless it writes characters by their numbers.
const PLAIN = /^[^"\\/\p{Cc}]*$/u;
const MEMBERS = "JSONExtractKeysAndValuesRaw(payload)";

/**
 * The condition that a payload's keys or values hold a text. Strings are compared as they read, not
 * as JSON escapes them. Values below the excluded keys do not count.
 */
function holds(text: string, excluded: readonly string[]): string {
  const needle = literal(text);
  const json = excluded.length
    ? `if(empty(${MEMBERS}), payload, arrayStringConcat(arrayMap(m -> concat(toJSONString(m.1), ':', m.2), arrayFilter(m -> NOT ${among("m.1", excluded)[0]!}, ${MEMBERS})), ','))`
    : "payload";
  // Few payloads hold the text at all, and only those have to be read string by string.
  const likely = PLAIN.test(text)
    ? `(positionCaseInsensitiveUTF8(payload, ${needle}) > 0 OR position(payload, '\\\\u') > 0)\n  AND `
    : "";
  const inStrings = `arrayExists(s -> positionCaseInsensitiveUTF8(JSONExtractString(s), ${needle}) > 0, extractAll(${json}, ${literal(STRING)}))`;
  if (!SCALAR.test(text)) return likely + inStrings;
  return `${likely}(${inStrings}\n    OR positionCaseInsensitiveUTF8(replaceRegexpAll(${json}, ${literal(STRING)}, '""'), ${needle}) > 0)`;
}
