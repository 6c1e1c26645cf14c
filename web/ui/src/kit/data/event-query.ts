// The filters of events, which several pages share: their fields, and the request of the URL.
import { useEffect, useState } from "preact/hooks";
import type { Query } from "../../api/request";
import { filterBar } from "../list/filter-bar";
import type { Filter } from "../list/filters";
import { param } from "../router";
import type { Preset } from "../time/time";
import { currentRange } from "../time/zone";
import { eventQuery } from "./event-request";
import { urlParams, useBounds } from "./query";

const TYPING_MS = 250;

/** A field for each filter of events. */
export const EVENT_FILTERS: readonly Filter[] = filterBar("events", {
  first: [
    "environment",
    "event_type",
    "agent_id",
    "session_id",
    "tool_name",
    "model",
    "hook_name",
    "trigger_event",
    "error_type",
  ],
});

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
  const given: Query = urlParams(EVENT_PARAMS);
  const { from, to } = useBounds(range, [turn, search, { ...given, search: null }]);
  return eventQuery({ ...given, search }, from, to);
}
