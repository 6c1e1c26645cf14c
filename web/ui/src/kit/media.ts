import { signal } from "@preact/signals";

function matching(query: string) {
  const list = matchMedia(query);
  const state = signal(list.matches);
  list.addEventListener("change", () => void (state.value = list.matches));
  return () => state.value;
}

/** Whether the screen has room for one column only. */
export const useNarrow = matching("(max-width: 799px)");

/** Whether a wide table has to leave something out. */
export const useTight = matching("(max-width: 1439px)");

/** Whether people point with a finger. */
export const useCoarse = matching("(pointer: coarse)");

/** Whether a side panel has to be a dialog. */
export const useSideless = matching("(max-width: 1099px)");
