// The part of Markdown that answers use, as a tree. Everything else stays text: HTML, images, and
// links to anywhere but the organization's pages. Pure.

export type Inline =
  | string
  | { tag: "strong" | "em" | "code"; of: readonly Inline[] }
  | { href: string; of: readonly Inline[] }
  | { unverified: true };

export type Block =
  | { tag: "p" | "h3"; of: readonly Inline[] }
  | { tag: "ul" | "ol"; items: readonly (readonly Inline[])[] }
  | { tag: "pre"; text: string }
  | { tag: "table"; head: readonly (readonly Inline[])[]; rows: readonly (readonly (readonly Inline[])[])[] };

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]*)\]\(([^)\s]+)\)|\(unverified\)/;
const ITEM = /^\s*(?:[-*+]|(\d{1,3})[.)])\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*)$/;
// Browsers resolve these segments, also percent-encoded, and read a backslash as a slash.
const LEAVES_ITS_FOLDER = /\/(?:\.|%2e){1,2}(?:\/|$)|\\/i;
const RULE = /^\|?[\s:|-]+\|[\s:|-]*$/;

/**
 * Parses a text, also one that is not complete yet. `own` is where links may lead: "/o/acme/". Null is for texts of
 * others: their links stay as they were sent, with the address in sight.
 */
export function parse(text: string, own: string | null): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!;
    if (!line.trim()) at++;
    else if (line.startsWith("```")) {
      const close = lines.findIndex((one, place) => place > at && one.startsWith("```"));
      const end = close < 0 ? lines.length : close;
      blocks.push({ tag: "pre", text: lines.slice(at + 1, end).join("\n") });
      at = end + 1;
    } else if (HEADING.test(line)) {
      blocks.push({ tag: "h3", of: inline(HEADING.exec(line)![1]!, own) });
      at++;
    } else if (ITEM.test(line)) {
      const end = endOf(lines, at, (one) => ITEM.test(one));
      const items = lines.slice(at, end).map((one) => inline(ITEM.exec(one)![2]!, own));
      blocks.push({ tag: ITEM.exec(line)![1] ? "ol" : "ul", items });
      at = end;
    } else if (line.includes("|") && RULE.test(lines[at + 1] ?? "")) {
      const end = endOf(lines, at + 2, (one) => one.includes("|"));
      const [head, ...rows] = [line, ...lines.slice(at + 2, end)].map((one) => cells(one, own));
      blocks.push({ tag: "table", head: head!, rows });
      at = end;
    } else {
      const end = endOf(
        lines,
        at,
        (one) => !!one.trim() && !ITEM.test(one) && !one.startsWith("```") && !HEADING.test(one),
      );
      blocks.push({ tag: "p", of: inline(lines.slice(at, end).join(" "), own) });
      at = end;
    }
  }
  return blocks;
}

function endOf(lines: readonly string[], from: number, belongs: (line: string) => boolean): number {
  let at = from;
  while (at < lines.length && belongs(lines[at]!)) at++;
  return at;
}

function cells(line: string, own: string | null): Inline[][] {
  const inner = line.trim().replace(/^\||\|$/g, "");
  return inner.split("|").map((cell) => inline(cell.trim(), own));
}

function inline(text: string, own: string | null): Inline[] {
  const found: Inline[] = [];
  let rest = text;
  for (let match = INLINE.exec(rest); match; match = INLINE.exec(rest)) {
    if (match.index) found.push(rest.slice(0, match.index));
    found.push(of(match, own));
    rest = rest.slice(match.index + match[0].length);
  }
  return rest ? [...found, rest] : found;
}

function of(match: RegExpExecArray, own: string | null): Inline {
  const [whole, code, strong, em, label, href] = match;
  if (code !== undefined) return { tag: "code", of: [code] };
  if (strong !== undefined) return { tag: "strong", of: inline(strong, own) };
  if (em !== undefined) return { tag: "em", of: inline(em, own) };
  if (own === null) return whole;
  if (href !== undefined) return staysBelow(own, href) ? { href, of: [label!] } : label!;
  return whole === "(unverified)" ? { unverified: true } : whole;
}

function staysBelow(own: string, href: string): boolean {
  const path = href.split(/[?#]/)[0]!;
  return path.startsWith(own) && !LEAVES_ITS_FOLDER.test(path);
}
