// The one way to the server. Cookies identify the person; the browser adds `Origin` to writes,
// which the server compares with its own host.

import { ApiError, errorOf } from "./errors";
import { segment } from "./segment";
import type { Routes } from "./types";

type Part<R extends keyof Routes, Name extends string> = Routes[R] extends Record<Name, infer T> ? T : never;
type Has<R extends keyof Routes, Name extends string> =
  Part<R, Name> extends never
    ? { [_ in Name]?: undefined }
    : object extends Part<R, Name>
      ? { [_ in Name]?: Part<R, Name> }
      : { [_ in Name]: Part<R, Name> };

export type Query = Record<string, string | number | boolean | null | undefined>;
export type Answer<R extends keyof Routes> = Routes[R]["answer"];
export type Parts<R extends keyof Routes> = Has<R, "path"> &
  Has<R, "body"> & { query?: Part<R, "query"> extends never ? undefined : Part<R, "query"> };

export interface Options {
  signal?: AbortSignal | undefined;
  /** Repeat after 429 and 503. Default: for GET. */
  retry?: boolean;
  /** Called before such a wait, with its seconds, and with 0 afterwards. */
  onWait?: ((seconds: number) => void) | undefined;
  /** Whether it is about the person, outside of organizations: no slug is sent, and 401 is an answer. */
  personal?: boolean;
  /** The last server-sent event that arrived before a break. */
  lastEventId?: string | null;
}

/** The frame's part in every request. */
export const hooks = {
  /** Slug of the organization that requests are for. */
  org: (): string | null => null,
  /** Asks to sign in. Resolves when the same person has done so; nothing else goes on after it. */
  onUnauthorized: (): Promise<void> => new Promise(() => undefined),
};

const DEFAULT_WAIT_SECS = 5;

/** The URL of a route: ids percent-encoded, parameters without a value left out. */
export function urlOf(route: string, path: Record<string, string> = {}, query: Query | undefined = {}): string {
  const filled = route
    .slice(route.indexOf(" ") + 1)
    .replace(/\{(\w+)\}/g, (_, name: string) => segment(path[name] ?? ""));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== "") parameters.append(name, `${value}`);
  const search = parameters.toString();
  return `/v1${filled}${search ? `?${search}` : ""}`;
}

/**
 * Sends a request and returns its JSON.
 * @throws ApiError for every failure but an abort.
 */
export async function request<R extends keyof Routes>(
  route: R,
  parts: Parts<R>,
  options: Options = {},
): Promise<Answer<R>> {
  const response = await send(route, parts as Loose, options);
  return (response.status === 204 ? null : await response.json()) as Answer<R>;
}

/** As `request`, but returns the text of the answer: exports and payloads as they were sent. */
export async function requestText<R extends keyof Routes>(
  route: R,
  parts: Parts<R>,
  options: Options = {},
): Promise<string> {
  return (await send(route, parts as Loose, options)).text();
}

/** As `requestText`, for JSON lines: gives each line as it comes, until `take` returns false. */
export async function requestLines<R extends keyof Routes>(
  route: R,
  parts: Parts<R>,
  take: (line: string) => boolean,
  options: Options = {},
): Promise<void> {
  const { body } = await send(route, parts as Loose, options);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split("\n");
    rest = lines.pop()!;
    if (!lines.every((line) => take(line))) return reader.cancel();
  }
  if (rest) take(rest);
}

/** As `requestText`, for server-sent events: gives the text of the stream as it comes. */
export async function requestEvents<R extends keyof Routes>(
  route: R,
  parts: Parts<R>,
  take: (text: string) => void,
  options: Options = {},
): Promise<void> {
  const { body } = await send(route, parts as Loose, options);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) take(part.value);
}

interface Loose {
  path?: Record<string, string>;
  query?: Query;
  body?: unknown;
}

async function send(route: string, parts: Loose, options: Options): Promise<Response> {
  const method = route.slice(0, route.indexOf(" "));
  const { retry = method === "GET", signal, onWait, personal = false } = options;
  const org = personal ? null : hooks.org();
  for (;;) {
    const response = await once(method, urlOf(route, parts.path, parts.query), parts.body, options, org);
    if (response.ok) return ofSameOrganization(response, org, personal);
    const error = ofSameOrganization(await errorOf(response), org, personal);
    if (error.status === 401 && !personal) {
      const again = hooks.onUnauthorized();
      if (method !== "GET") throw error;
      await again;
    } else if (retry && (error.status === 429 || error.status === 503)) {
      const seconds = error.retryAfter ?? DEFAULT_WAIT_SECS;
      onWait?.(seconds);
      await pause(seconds * 1000, signal);
      onWait?.(0);
    } else throw error;
    ofSameOrganization(null, org, personal);
  }
}

/**
 * Returns what arrived, unless the person went on to another organization meanwhile: its pages get
 * no answer of this one, and no step that follows from it is taken there.
 */
function ofSameOrganization<T>(arrived: T, org: string | null, personal: boolean): T {
  if (personal || hooks.org() === org) return arrived;
  throw new DOMException("the organization has changed", "AbortError");
}

async function once(
  method: string,
  url: string,
  body: unknown,
  { signal, lastEventId }: Options,
  org: string | null,
): Promise<Response> {
  const headers = new Headers({ Accept: "application/json" });
  if (lastEventId) headers.set("Last-Event-ID", lastEventId);
  if (org !== null) headers.set("X-Service-Org", org);
  if (body !== undefined)
    headers.set("Content-Type", typeof body === "string" ? "application/x-ndjson" : "application/json");
  const content = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  try {
    return await fetch(url, {
      method,
      headers,
      body: content ?? null,
      signal: signal ?? null,
      credentials: "same-origin",
      cache: "no-store",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, {}, null, null);
  }
}

/** Resolves after that many milliseconds, or rejects when the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
