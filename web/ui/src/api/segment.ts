// Ids as segments of paths, of the API and of pages.

/** Browsers would resolve the first two, and the third is a path of its own. */
const SPECIAL = new Set([".", "..", "totals"]);
const LITERAL = "\u001d";

/** An id as a segment of a path. */
export function segment(id: string): string {
  return encodeURIComponent(SPECIAL.has(id) ? LITERAL + id : id);
}

/** The id of a decoded segment. */
export function idOf(decoded: string): string {
  return decoded.startsWith(LITERAL) ? decoded.slice(1) : decoded;
}
