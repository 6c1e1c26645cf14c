// A JSON value as lines that can be folded. Pure.

export interface Line {
  /** Levels of indentation. */
  depth: number;
  /** The key, as JSON writes it; null in arrays and at the top. */
  key: string | null;
  /** Stands behind the key: a value, or an opening or closing bracket. */
  text: string;
  kind: "string" | "number" | "word" | "bracket";
  /** Identifies what can be folded at this line: a JSON pointer. */
  fold: string | null;
  /** Values inside, for the text of a folded line. */
  size: number;
  /** The value as it would be copied. */
  value: unknown;
}

const MOST_TEXT = 2000;

/** Parses a string that is itself an object or array, as tools often send them. */
export function nested(text: string): object | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** Writes a string as JSON in one line, cut where it is long. */
export function shortened(text: string): string {
  const json = JSON.stringify(text.slice(0, MOST_TEXT));
  return text.length > MOST_TEXT ? `${json.slice(0, -1)}…"` : json;
}

/**
 * The lines of a value.
 * @param isFolded whether the value at a pointer is closed, from its depth and size
 */
export function linesOf(value: unknown, isFolded: (pointer: string, depth: number, size: number) => boolean): Line[] {
  const lines: Line[] = [];
  const add = (one: unknown, key: string | null, pointer: string, depth: number, comma: string): void => {
    const inner = typeof one === "string" ? nested(one) : one;
    if (typeof inner !== "object" || inner === null) {
      const kind = typeof one === "string" ? "string" : typeof one === "number" ? "number" : "word";
      const text = (typeof one === "string" ? shortened(one) : JSON.stringify(one)) + comma;
      const long = typeof one === "string" && one.length > MOST_TEXT;
      lines.push({ depth, key, text, kind, fold: long ? pointer : null, size: 0, value: one });
      return;
    }
    const array = Array.isArray(inner);
    const entries = Object.entries(inner);
    // A string that holds JSON keeps its quotes around the brackets.
    const quote = typeof one === "string" ? '"' : "";
    const [open, close] = array ? [`${quote}[`, `]${quote}`] : [`${quote}{`, `}${quote}`];
    const common = { key, kind: "bracket" as const, depth, size: entries.length, value: one };
    if (!entries.length) return void lines.push({ ...common, text: open + close + comma, fold: null });
    if (isFolded(pointer, depth, entries.length))
      return void lines.push({ ...common, text: `${open}…${close}${comma}`, fold: pointer });
    lines.push({ ...common, text: open, fold: pointer });
    entries.forEach(([name, entry], index) => {
      const path = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      add(entry, array ? null : JSON.stringify(name), path, depth + 1, index < entries.length - 1 ? "," : "");
    });
    lines.push({ ...common, key: null, text: close + comma, fold: null });
  };
  add(value, null, "", 0, "");
  return lines;
}
