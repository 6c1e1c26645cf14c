// The page's state in the URL.
import { computed } from "@preact/signals";
import { param, setQuery, typeQuery } from "../../kit/router";
import { splitValues } from "../../kit/url";
import type { Filters } from "./model/filters";

export const VIEWS = ["waterfall", "transcript", "evaluations", "table"] as const;
export type ViewName = (typeof VIEWS)[number];

export const chosenView = computed<ViewName>(() => {
  const name = param("view") as ViewName;
  return VIEWS.includes(name) ? name : "waterfall";
});

/** The id of the chosen event. */
export const chosenEvent = computed(() => param("e"));
export const searchText = computed(() => param("q") ?? "");
export const hidesOthers = computed(() => param("hide") === "1");
export const showsGaps = computed(() => param("gaps") === "1");

const foldKey = computed(() => param("fold") ?? "");
export const foldedAgents = computed(() => splitValues(foldKey.value));

const FILTERS = ["type", "agent", "name", "errored", "t0", "t1"] as const;
// A text, so that a choice of another event leaves the filters the same object.
const filterKey = computed(() => JSON.stringify(FILTERS.map(param)));

export const filters = computed<Filters>(() => {
  const [type, agent, name, errored, t0, t1] = JSON.parse(filterKey.value) as (string | null)[];
  const [from, to] = [Number(t0 ?? NaN), Number(t1 ?? NaN)];
  return {
    types: splitValues(type),
    agents: splitValues(agent),
    names: splitValues(name),
    errored: errored === "1",
    window: to > from ? { from, to } : null,
  };
});

/** @param typing whether it is one of many quick steps, which Back undoes at once */
export function chooseEvent(id: number | null, { typing = false } = {}): void {
  (typing ? typeQuery : setQuery)({ e: id });
}

export function setWindow(window: Filters["window"], { typing = false } = {}): void {
  (typing ? typeQuery : setQuery)({ t0: window && Math.floor(window.from), t1: window && Math.ceil(window.to) });
}
