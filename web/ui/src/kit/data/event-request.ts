// The request for events that a page shows. Pure functions.
import type { Query } from "../../api/request";
import { splitValues } from "../url";

/** A request from the parameters of the URL. Both answers to "Failed" together exclude nothing. */
export function eventQuery(given: Query, from: string | null, to: string | null): Query {
  const failed = splitValues(given["errored"] as string | null);
  return { ...given, errored: failed.length === 1 ? failed[0]! : null, ts_from: from, ts_to: to };
}
