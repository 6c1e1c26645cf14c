const MOST = 16 * 1024;
/** A line break that is so near the end of a part ends it. */
const NEAR = 4 * 1024;

/** Cuts a text into parts for the page, at line breaks where there are some. Characters of two units stay whole. */
export function chunks(text: string): string[] {
  const found: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + MOST);
    if (to < text.length) {
      const line = text.lastIndexOf("\n", to - 1) + 1;
      if (line > to - NEAR) to = line;
      else if (/[\ud800-\udbff]/.test(text[to - 1]!)) to--;
    }
    found.push(text.slice(from, to));
    from = to;
  }
  return found.length ? found : [""];
}
