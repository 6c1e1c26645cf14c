import { type Query, urlOf } from "../../api/request";

/** A request as `request()` takes it. */
export interface Described {
  /** "GET /sessions" */
  route: string;
  path?: Record<string, string> | undefined;
  query?: Query | undefined;
  body?: unknown;
}

/** The path below `/v1` and the query of a request. */
export function requestOf({ route, path, query }: Described): string {
  return urlOf(route, path, query).slice("/v1".length);
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * A request as one line of curl. The key is a variable of the shell, so that no secret gets into
 * a document or a chat.
 */
export function curlOf(request: Described, org: string | null, origin: string): string {
  const method = request.route.slice(0, request.route.indexOf(" "));
  const parts = ["curl", "-sS"];
  if (method !== "GET") parts.push("-X", method);
  parts.push("-H", '"Authorization: Bearer $WATCHPOST_KEY"');
  if (org) parts.push("-H", quoted(`X-Service-Org: ${org}`));
  if (request.body !== undefined)
    parts.push("-H", "'Content-Type: application/json'", "-d", quoted(JSON.stringify(request.body)));
  parts.push(quoted(origin + urlOf(request.route, request.path, request.query)));
  return parts.join(" ");
}
