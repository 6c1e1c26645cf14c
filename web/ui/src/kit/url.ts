// URLs of the UI: `/o/<organization>/<page>/<ids…>?<state>`. Pure functions.

import { idOf, segment } from "../api/segment";

export interface Place {
  /** "/", "/sign-in", "/profile", or "/o" for the pages of an organization. */
  base: string;
  org: string | null;
  /** Decoded segments behind the organization: ["sessions", "a/b"]. */
  segments: readonly string[];
  query: URLSearchParams;
}

export type Changes = Record<string, string | number | readonly string[] | null | undefined>;

function decode(text: string): string {
  try {
    return idOf(decodeURIComponent(text));
  } catch {
    return text;
  }
}

/** Takes a path and query apart. */
export function parsePlace(pathname: string, search: string): Place {
  const query = new URLSearchParams(search);
  const [, first = "", ...rest] = pathname.split("/");
  if (first !== "o") return { base: `/${first}`, org: null, segments: [], query };
  const [org = "", ...segments] = rest.map(decode);
  return { base: "/o", org, segments: segments.filter((part) => part !== ""), query };
}

/** Returns the path of a page. Ids may hold any characters. */
export function pathOf(org: string, ...segments: readonly string[]): string {
  return ["/o", ...[org, ...segments].map(segment)].join("/");
}

/** Takes a parameter of several values apart as the server does; `\,` is a comma in a value. */
export function splitValues(text: string | null | undefined): string[] {
  return (text ?? "")
    .split(/(?<!\\),/)
    .map((part) => part.replaceAll("\\,", ","))
    .filter((part) => part !== "");
}

/** Puts values into one parameter. */
export function joinValues(values: readonly string[]): string {
  return values.map((value) => value.replaceAll(",", "\\,")).join(",");
}

/** Encodes a query. Commas, colons and slashes stay readable. */
export function searchOf(query: URLSearchParams): string {
  const text = query.toString().replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%2F/g, "/");
  return text && `?${text}`;
}

/** Returns the query with these changes. null, "" and empty lists remove a parameter. */
export function changed(query: URLSearchParams, changes: Changes): URLSearchParams {
  const result = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    const text = Array.isArray(value) ? joinValues(value) : `${value ?? ""}`;
    if (text === "") result.delete(name);
    else result.set(name, text);
  }
  return result;
}

/** The filter of attributes. It stands for the parameters of all its keys: `attr.plan`. */
export const ATTRIBUTES = "attr";

/** The parameter that filters by an attribute. */
export function attributeParam(key: string): string {
  return `${ATTRIBUTES}.${key}`;
}

/** The parameters of these names, with those of each attribute in the query in place of "attr". */
export function withAttributes(names: readonly string[], query: URLSearchParams): string[] {
  const given = [...query.keys()].filter((name) => name.startsWith(attributeParam("")));
  return names.flatMap((name) => (name === ATTRIBUTES ? given : [name]));
}

/** Whether the UI has pages at this path. */
export function isPagePath(path: string): boolean {
  return path === "/" || /^\/(o\/|sign-in$|profile$)/.test(path);
}

/** Returns `next` if it is a page of this UI to go on to, else "/". Never leads to another origin. */
export function ownPath(next: string | null): string {
  if (!next || !/^\/(?![/\\])/.test(next)) return "/";
  const url = new URL(next, "http://origin.invalid");
  const isOwn = url.origin === "http://origin.invalid" && isPagePath(url.pathname) && url.pathname !== "/sign-in";
  return isOwn ? url.pathname + url.search + url.hash : "/";
}
