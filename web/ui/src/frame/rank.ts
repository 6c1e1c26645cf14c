// Orders the commands of the palette by the typed text. Pure.

/** Splits labels into words where ids do: at spaces, dots, slashes, dashes and underscores. */
const BETWEEN_WORDS = /[\s./_:-]+/;

/** 0 is the best match, null is none. Each typed word has to be in the label. */
export function rankOf(label: string, typed: string): number | null {
  const [text, needle] = [label.toLowerCase(), typed.trim().toLowerCase()];
  if (text === needle) return 0;
  if (text.startsWith(needle)) return 1;
  const words = text.split(BETWEEN_WORDS);
  const parts = needle.split(/\s+/);
  if (parts.every((part) => words.some((word) => word.startsWith(part)))) return 2;
  return parts.every((part) => text.includes(part)) ? 3 : null;
}

/** The matching items, the best ones first. Items of one rank keep their order. */
export function ranked<Item extends { label: string }>(items: readonly Item[], typed: string, most: number): Item[] {
  return items
    .map((item) => ({ item, rank: rankOf(item.label, typed) }))
    .filter(({ rank }) => rank !== null)
    .sort((one, other) => one.rank! - other.rank!)
    .slice(0, most)
    .map(({ item }) => item);
}
