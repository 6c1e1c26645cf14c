// The choices of the page "Profile". They are kept in this browser.
import { effect, signal } from "@preact/signals";

export interface Preferences {
  /** "local", "UTC" or an IANA name. */
  zone: string;
  theme: "system" | "light" | "dark";
  density: "comfortable" | "compact";
  singleKeys: boolean;
}

const STORED_AS = "wp-preferences";
const DEFAULTS: Preferences = {
  zone: "local",
  theme: "system",
  density: "comfortable",
  singleKeys: true,
};

function stored(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(STORED_AS) ?? "{}") as object) };
  } catch {
    return DEFAULTS;
  }
}

export const preferences = signal<Preferences>(stored());

export function prefer(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...changes };
  localStorage.setItem(STORED_AS, JSON.stringify(preferences.value));
}

/** Keeps theme and density of the document, and other tabs, up to date. */
export function startPreferences(): void {
  effect(() => {
    const { theme, density } = preferences.value;
    const root = document.documentElement;
    if (theme === "system") root.removeAttribute("data-theme");
    else root.dataset["theme"] = theme;
    root.dataset["density"] = density;
  });
  addEventListener("storage", ({ key }) => {
    if (key === STORED_AS) preferences.value = stored();
  });
}
