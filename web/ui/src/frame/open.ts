// Whether the parts that cover the page are open.
import { signal } from "@preact/signals";

export const paletteOpen = signal(false);
export const shortcutsOpen = signal(false);
export const menuOpen = signal(false);
export const assistantOpen = signal(false);

/** Whether the deployment has an assistant; unknown at first. */
export const hasAssistant = signal(false);
