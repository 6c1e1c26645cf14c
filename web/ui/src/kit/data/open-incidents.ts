import { signal } from "@preact/signals";

/** How many incidents are open, as the navigation and the page of incidents last read it; null before. */
export const openIncidents = signal<number | null>(null);
/** Both look again after so long. */
export const LOOK_EVERY_MS = 30_000;
