import { signal } from "@preact/signals";

/** The text of the frame's polite status region. */
export const announcement = signal("");

const SHOWN_MS = 5000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says something to the person, without taking the focus. */
export function announce(text: string): void {
  clearTimeout(timer);
  announcement.value = "";
  // A changed text is read out; the same one twice is not, so it is emptied in between.
  requestAnimationFrame(() => void (announcement.value = text));
  timer = setTimeout(() => void (announcement.value = ""), SHOWN_MS);
}
