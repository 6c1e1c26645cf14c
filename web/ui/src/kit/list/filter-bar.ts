// The fields of filter bars, from the filters that the service declares.
import { DECLARED, type DeclaredFilter } from "../../api/filters";
import { request } from "../../api/request";
import { missingWords, readMissable, readValues } from "../dimensions/values";
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
/** The filters whose values may be too many to offer all. */
const ASKED = ["user_id", "agent_version", "tag"];
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
    .map((declared) => ({
      param: declared.param,
      label: declared.label,
      ...(declared.param === search && { search: true }),
      ...valuesOf(declared, facets),
    }));
}

/** What the field of a filter takes. */
function valuesOf(
  { param, type, choices, names }: DeclaredFilter,
  facets: NonNullable<Bar["facets"]>,
): Partial<Filter> {
  if (type === "number") return { number: true };
  if (type === "attributes") return { attributes: true };
  if (param === "missing") return { choices: () => readMissable(names!), show: missingWords };
  if (choices || type === "flag") return { choices: choices ?? YES_OR_NO };
  if (ASKED.includes(param)) return { choices: (text) => readValues(param, text), asks: true, typed: true };
  const facet = facets[param] ?? FACETS[param];
  return facet ? { choices: facet, typed: true } : {};
}
