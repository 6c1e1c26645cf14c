import { announce } from "../overlay/announce";

/** Copies a text, and says "Copied" or why not. `what` is the name of the button. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what}: copied`);
  } catch {
    announce(copyBySelection(text) ? `${what}: copied` : "The browser does not allow copying here.");
  }
}

// Without TLS there is no navigator.clipboard, except on loopback.
function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  const place = document.querySelector("dialog[open]") ?? document.body;
  const focused = document.activeElement as HTMLElement | null;
  place.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return done;
}
