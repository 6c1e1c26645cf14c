/** The difference of two payloads, line by line of their indented JSON. */
import { align } from "./align";

export interface DiffLine {
  /** "same", or the side that has the line. */
  side: "same" | "left" | "right";
  text: string;
}

/** Fields that differ between any two sessions and say nothing about them. */
const ENVELOPE = new Set(["session_id", "timestamp"]);

export function diffPayloads(left: unknown, right: unknown): DiffLine[] {
  const one = linesOf(left);
  const other = linesOf(right);
  const numbers = new Map<string, number>();
  const numbered = (lines: string[]) =>
    Int32Array.from(lines, (line) => {
      // A comma at the end says that another member follows, not that this one differs.
      const key = line.replace(/,$/, "");
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, numbers.size);
      return numbers.size - 1;
    });
  const aligned = align(numbered(one), numbered(other), 2000);
  return Array.from(aligned.left, (i, line): DiffLine => {
    const j = aligned.right[line]!;
    if (i >= 0 && j >= 0) return { side: "same", text: one[i]! };
    return i >= 0 ? { side: "left", text: one[i]! } : { side: "right", text: other[j]! };
  });
}

function linesOf(payload: unknown): string[] {
  if (payload === undefined) return [];
  const shown =
    typeof payload === "object" && payload !== null && !Array.isArray(payload)
      ? Object.fromEntries(Object.entries(payload).filter(([key]) => !ENVELOPE.has(key)))
      : payload;
  return JSON.stringify(shown, null, 2).split("\n");
}

/** Whether nothing but the envelope differs. */
export function samePayloads(left: unknown, right: unknown): boolean {
  const [one, other] = [linesOf(left), linesOf(right)];
  return one.length === other.length && one.every((line, at) => line === other[at]);
}
