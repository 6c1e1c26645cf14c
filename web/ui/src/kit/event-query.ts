// The filters of events, which several pages share: their fields, and the request of the URL.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Query, request } from "../api/request";
import { eventQuery } from "./event-conditions";
import type { Filter } from "./filters";
import { param } from "./router";
import { boundsOf, type Preset } from "./time";
import { currentRange } from "./zone";

const TYPING_MS = 250;

/** A field for each filter of events. Choices are the facets, read when a field is first opened. */
export const EVENT_FILTERS: readonly Filter[] = [
  { param: "environment", label: "Environment", choices: () => request("GET /events/environments", {}), typed: true },
  { param: "event_type", label: "Type", choices: () => request("GET /events/event_types", {}), typed: true },
  { param: "agent_id", label: "Agent", choices: () => request("GET /events/agent_ids", {}), typed: true },
  { param: "session_id", label: "Session" },
  { param: "tool_name", label: "Tool", choices: () => request("GET /events/tool_names", {}), typed: true },
  { param: "model", label: "Model", choices: () => request("GET /events/models", {}), typed: true },
  { param: "hook_name", label: "Hook", choices: () => request("GET /events/hook_names", {}), typed: true },
  { param: "trigger_event", label: "Trigger", choices: () => request("GET /events/trigger_events", {}), typed: true },
  { param: "error_type", label: "Error type", choices: () => request("GET /events/error_types", {}), typed: true },
  { param: "errored", label: "Failed", choices: ["true", "false"] },
];

/** Every parameter that makes a list of events shorter, but for the range. */
export const EVENT_PARAMS: readonly string[] = [
  ...EVENT_FILTERS.map((filter) => filter.param),
  "search",
  "search_exclude",
];

/** A value that changes only after it stood still. */
function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}

/** The request that the URL describes. A range that ends now moves on only when `turn` changes. */
export function useEventQuery(standard: Preset, turn: number): Query {
  const range = currentRange(standard);
  const search = useSettled(param("search"), TYPING_MS);
  const given: Query = Object.fromEntries(EVENT_PARAMS.map((name) => [name, param(name)]));
  return useMemo(() => {
    const { from, to } = boundsOf(range, Date.now());
    return eventQuery({ ...given, search }, from, to);
  }, [turn, search, JSON.stringify(range), JSON.stringify({ ...given, search: null })]);
}
