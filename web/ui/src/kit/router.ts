// The current URL as a signal, navigation without a reload, and state in the query.
import { computed, signal } from "@preact/signals";
import { session } from "../api/session";
import { type Changes, changed, isPagePath, type Place, parsePlace, searchOf } from "./url";

const url = signal(location.pathname + location.search);

/** Where the UI is. */
export const place = computed<Place>(() => {
  const { pathname, search } = new URL(url.value, location.origin);
  return parsePlace(pathname, search);
});

/** Counts the navigations to another page, so that the page can take the focus. */
export const visits = signal(0);

/** Each resolves to whether the page may be left. Dirty forms register one. */
const guards = new Set<() => Promise<boolean>>();

/** The number of the present step of the history, which its state holds. Links from outside have none. */
function stepNow(): number {
  return (history.state as { step?: number } | null)?.step ?? 0;
}

/** The step that is shown. It differs from the present one while a form asks whether to leave. */
let step = stepNow();

function push(path: string, state: object | null): void {
  step++;
  history.pushState({ ...state, step }, "", path);
}

function replace(path: string, state: object | null): void {
  history.replaceState({ ...state, step }, "", path);
}

function show(): void {
  url.value = location.pathname + location.search;
}

async function mayLeave(): Promise<boolean> {
  for (const guard of guards) if (!(await guard())) return false;
  return true;
}

/** Asks `guard` before a navigation to another page. Returns a function that removes it. */
export function guardLeaving(guard: () => Promise<boolean>): () => void {
  guards.add(guard);
  return () => guards.delete(guard);
}

/** Goes to a path of this UI. */
export async function navigate(
  path: string,
  options: { replace?: boolean; state?: object | null } = {},
): Promise<void> {
  const target = new URL(path, location.origin);
  const moves = target.pathname !== location.pathname;
  if (moves && !(await mayLeave())) return;
  (options.replace ? replace : push)(path, options.state ? owned(options.state) : null);
  show();
  if (moves) visits.value++;
}

/** A parameter of the query. */
export function param(name: string): string | null {
  return place.value.query.get(name);
}

/** The step of the history as it was before somebody began to type. */
let beforeTyping: { path: string; state: unknown } | null = null;

/**
 * Changes parameters of the query as a step that Back undoes.
 * After `typeQuery`, the step leads back to the state before the typing.
 */
export function setQuery(changes: Changes, options: { replace?: boolean } = {}): void {
  const next = location.pathname + searchOf(changed(place.peek().query, changes));
  if (beforeTyping !== null) history.replaceState(beforeTyping.state, "", beforeTyping.path);
  const same = next === location.pathname + location.search;
  beforeTyping = null;
  if (!same && options.replace) replace(next, history.state as object | null);
  else if (!same) push(next, null);
  show();
}

/** Changes parameters while a person types: in place, until `setQuery` makes a step of it. */
export function typeQuery(changes: Changes): void {
  beforeTyping ??= { path: location.pathname + location.search, state: history.state as unknown };
  const next = location.pathname + searchOf(changed(place.peek().query, changes));
  history.replaceState(history.state, "", next);
  show();
}

/** A state of the history with its person. Who signs in later in the same tab gets nothing of it. */
function owned(state: object): object {
  return { ...state, person: session.peek()?.id };
}

function ownState(): object | null {
  const state = history.state as { person?: string } | null;
  return state?.person === session.peek()?.id ? state : null;
}

/** Keeps a value with the current step of the history; it survives Back and reload. */
export function remember(name: string, value: unknown): void {
  replace("", owned({ ...ownState(), [name]: value }));
}

export function remembered<T>(name: string): T | undefined {
  return (ownState() as Record<string, T> | null)?.[name];
}

function linkOf(event: MouseEvent): HTMLAnchorElement | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = (event.target as Element).closest("a");
  if (!link?.href || link.target || link.hasAttribute("download")) return null;
  return new URL(link.href).origin === location.origin ? link : null;
}

/** Follows links, Back and Forward. Called once. */
export function startRouter(): void {
  let shown = location.pathname;
  let restoring = false;
  addEventListener("popstate", async () => {
    beforeTyping = null;
    const moves = location.pathname !== shown;
    if (restoring) return void (restoring = false);
    const next = stepNow();
    if (moves && next !== step && !(await mayLeave())) {
      // Back and Forward have changed the URL already, so they are undone.
      restoring = true;
      history.go(step - next);
      return;
    }
    step = next;
    show();
    if (moves) visits.value++;
  });
  url.subscribe((value) => void (shown = new URL(value, location.origin).pathname));
  addEventListener("click", (event) => {
    const link = linkOf(event);
    if (!link) return;
    const { pathname, search, hash } = new URL(link.href);
    if (pathname === location.pathname && search === location.search && hash) return;
    if (!isPagePath(pathname)) return;
    event.preventDefault();
    void navigate(pathname + search + hash);
  });
}
