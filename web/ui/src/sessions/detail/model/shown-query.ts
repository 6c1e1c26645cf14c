/** The request that answers what the page shows. */
import type { Query } from "../../../api/request";
import { joinValues } from "../../../kit/url";
import { nameColumn } from "./families";
import type { Filters } from "./filters";
import type { Outline } from "./outline";

/** Microseconds since 1970 → RFC 3339. */
function moment(us: number): string {
  const ms = Math.floor(us / 1000);
  return new Date(ms).toISOString().replace("Z", `${us - ms * 1000}`.padStart(3, "0") + "Z");
}

/** The filter for these names. Names in several columns have none: filters of two columns must both hold. */
function namesQuery(outline: Outline, names: readonly string[]): Query {
  const wanted = new Set(names);
  const columns = new Set<string>();
  for (let event = 0; event < outline.length; event++) {
    if (outline.name[event]! < 0 || !wanted.has(outline.names[outline.name[event]!]!)) continue;
    columns.add(nameColumn(outline.types[outline.type[event]!]!) ?? "");
  }
  const [column] = columns;
  return columns.size === 1 && column ? { [column]: joinValues(names) } : {};
}

/** The parameters of the outline that choose the events on show. */
export function shownQuery(outline: Outline | null, { types, agents, names, errored, window }: Filters): Query {
  const begin = outline?.ts[0];
  return {
    event_type: joinValues(types),
    agent_id: joinValues(agents),
    errored: errored ? "true" : null,
    ...(outline && names.length ? namesQuery(outline, names) : {}),
    ...(window && begin !== undefined
      ? { ts_from: moment(begin + window.from * 1000), ts_to: moment(begin + window.to * 1000 + 1) }
      : {}),
  };
}
