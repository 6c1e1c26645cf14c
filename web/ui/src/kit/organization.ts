import { signal } from "@preact/signals";
import { place } from "./router";

const STORED_AS = "wp-org";
const last = signal(localStorage.getItem(STORED_AS));

/** The organization of the URL, else the one that was open last in this browser. */
export function organization(): string | null {
  return place.value.org ?? last.value;
}

export function rememberOrganization(slug: string): void {
  last.value = slug;
  localStorage.setItem(STORED_AS, slug);
}

export function forgetOrganization(): void {
  last.value = null;
  localStorage.removeItem(STORED_AS);
}
