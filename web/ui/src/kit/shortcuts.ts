// Keys of the page and of the frame. A page registers its own with `useShortcuts`.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { preferences } from "./preferences";

export interface Shortcut {
  /** "r", "Shift+E", "Mod+k", "[", or a sequence: "g s". */
  keys: string;
  label: string;
  run: () => void;
}

/** Every shortcut that works now, the newest registration first. */
export const shortcuts = signal<readonly Shortcut[]>([]);

const SEQUENCE_MS = 1500;
let first: { key: string; at: number } | null = null;

/** Registers shortcuts while the component is shown. Later ones take precedence. */
export function useShortcuts(wanted: readonly Shortcut[]): void {
  const newest = useRef(wanted);
  newest.current = wanted;
  const names = wanted.map(({ keys, label }) => `${keys}\t${label}`).join("\n");
  // Before the first paint: what can be seen can be reached by its keys.
  useLayoutEffect(() => {
    const registered = newest.current.map((one, index) => ({
      ...one,
      run: () => newest.current[index]?.run(),
    }));
    shortcuts.value = [...registered, ...shortcuts.peek()];
    return () => {
      shortcuts.value = shortcuts.peek().filter((one) => !registered.includes(one));
    };
  }, [names]);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches("textarea, select")) return true;
  return target.matches("input:not([type=checkbox]):not([type=radio]):not([type=range])");
}

/** The name of a pressed key as `Shortcut.keys` writes it. */
export function nameOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">): string {
  const { key } = event;
  if (event.ctrlKey || event.metaKey) return `Mod+${key.toLowerCase()}`;
  if (event.altKey) return `Alt+${key}`;
  if (event.shiftKey && /^[A-Za-z]$|^.{2,}$/.test(key)) return `Shift+${key.length === 1 ? key.toUpperCase() : key}`;
  return key;
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const name = nameOf(event);
  const single = !name.startsWith("Mod+");
  if (single && (isTyping(event.target) || !preferences.peek().singleKeys)) return;
  // In a dialog only its own keys work: those of the page would act behind it.
  if (single && document.querySelector("dialog[open]:not(.side)")) return;
  // Enter presses what has the focus, before it opens a row.
  if (name === "Enter" && event.target instanceof Element && event.target.closest("a[href], button, summary")) return;
  const before = first && Date.now() - first.at < SEQUENCE_MS ? first.key : null;
  first = null;
  const all = shortcuts.peek();
  const found = all.find(({ keys }) => keys === (before ? `${before} ${name}` : name));
  if (found) {
    event.preventDefault();
    found.run();
  } else if (all.some(({ keys }) => keys.startsWith(`${name} `))) {
    first = { key: name, at: Date.now() };
  }
}

/** Listens to the keyboard. Called once. */
export function startShortcuts(): void {
  addEventListener("keydown", onKeyDown);
}

/** Puts the cursor into the page's search: the field with `data-search`. */
export function focusSearch(): void {
  const field = [...document.querySelectorAll<HTMLElement>("[data-search]")].find((one) => one.offsetParent);
  field?.focus();
}
