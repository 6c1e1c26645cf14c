// What pages ask for: the parameters of the URL, the bounds of its range, and the answer of a route.
import { useMemo } from "preact/hooks";
import { type Answer, type Parts, type Query, request } from "../../api/request";
import type { Routes } from "../../api/types";
import { param, place } from "../router";
import { type Bounds, boundsOf, type Range } from "../time/time";
import { withAttributes } from "../url";
import { type Load, useLoad } from "./load";

/** The bounds of a range. One that ends now moves on when `asked` changes, and stays while its list is paged. */
export function useBounds(range: Range, asked: unknown): Bounds {
  return useMemo(() => boundsOf(range, Date.now()), [JSON.stringify([range, asked])]);
}

/** The parameters of the URL of these names, and of the attributes that are filtered with "attr". */
export function urlParams(names: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(withAttributes(names, place.value.query).map((name) => [name, param(name)]));
}

/** The request that the URL describes: the parameters of these names, and the bounds of the range. */
export function useUrlQuery(names: readonly string[], range: Range, turn: number): Query {
  const given = urlParams(names);
  const { from, to } = useBounds(range, [turn, given]);
  return { ...given, ts_from: from, ts_to: to };
}

/** Reads the answer of a route when its query changes, and at each `turn`. Without a query it reads nothing. */
export function useQuery<R extends keyof Routes>(route: R, query: Query | null, turn = 0): Load<Answer<R>> {
  return useLoad(query && [route, query, turn], (options) =>
    request(route, { query: query as object } as Parts<R>, options),
  );
}
