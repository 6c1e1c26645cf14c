// The fields of filter bars, from the filters that the service declares.
import { DECLARED } from "../../api/filters";
import { request } from "../../api/request";
import type { Choices } from "../form/choices";
import type { Filter } from "./filters";

/** The values that events have, by the filter that takes them. Each is read when its field is first opened. */
const FACETS: Readonly<Record<string, () => Promise<Choices>>> = {
  environment: () => request("GET /events/environments", {}),
  event_type: () => request("GET /events/event_types", {}),
  agent_id: () => request("GET /events/agent_ids", {}),
  tool_name: () => request("GET /events/tool_names", {}),
  model: () => request("GET /events/models", {}),
  hook_name: () => request("GET /events/hook_names", {}),
  trigger_event: () => request("GET /events/trigger_events", {}),
  error_type: () => request("GET /events/error_types", {}),
};
const YES_OR_NO = ["true", "false"];

interface Bar {
  /** The first fields, in this order; the others follow as they are declared. */
  first: readonly string[];
  /** The field that `/` goes to. */
  search?: string;
  /** Other choices than those of events. */
  facets?: Readonly<Record<string, () => Promise<Choices>>>;
}

/** The names of all filters of a resource but its range of time. */
export function filterNames(resource: string): string[] {
  return (DECLARED[resource] ?? []).map(({ param }) => param);
}

/** A field for each filter of a resource that has a label. */
export function filterBar(resource: string, { first, search, facets = {} }: Bar): Filter[] {
  const rank = (param: string) => (first.includes(param) ? first.indexOf(param) : first.length);
  return (DECLARED[resource] ?? [])
    .filter(({ label }) => label)
    .sort((one, other) => rank(one.param) - rank(other.param))
    .map(({ param, type, label, choices }) => {
      const facet = facets[param] ?? FACETS[param];
      const given = choices ?? (type === "flag" ? YES_OR_NO : undefined);
      return {
        param,
        label,
        ...(param === search && { search: true }),
        ...(type === "number"
          ? { number: true }
          : given
            ? { choices: given }
            : facet && { choices: facet, typed: true }),
      };
    });
}
