/**
 * Aligns two sequences by their longest common subsequence.
 *
 * The table of the subsequence takes one byte a cell. Sequences of more than 5,000 are aligned in windows, so that
 * memory and time stay bounded; across the edge of a window a pair can be missed.
 */

export interface Aligned {
  /** For each line of the alignment the index in either sequence, or -1. */
  left: Int32Array;
  right: Int32Array;
  /** Whether the sequences were cut into windows. */
  windowed: boolean;
}

export const WINDOW = 5000;

export function align(one: ArrayLike<number>, other: ArrayLike<number>, window = WINDOW): Aligned {
  const pairs: [number, number][] = [];
  let start = 0;
  const shorter = Math.min(one.length, other.length);
  while (start < shorter && one[start] === other[start]) pairs.push([start, start++]);
  let tail = 0;
  while (tail < shorter - start && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  const oneEnd = one.length - tail;
  const otherEnd = other.length - tail;
  const windowed = Math.max(oneEnd, otherEnd) - start > window;
  let [at, to] = [start, start];
  while (at < oneEnd && to < otherEnd) {
    const last = oneEnd - at <= window && otherEnd - to <= window;
    const found = subsequence(one, at, Math.min(oneEnd, at + window), other, to, Math.min(otherEnd, to + window));
    // Only the first half of a window is final: a better partner may stand beyond its edge.
    const kept = last ? found : found.filter(([x, y]) => x < at + window / 2 && y < to + window / 2);
    pairs.push(...kept);
    if (last) break;
    const end = kept[kept.length - 1];
    [at, to] = end
      ? [end[0] + 1, end[1] + 1]
      : [Math.min(oneEnd, at + (window >> 1)), Math.min(otherEnd, to + (window >> 1))];
  }
  for (let i = 0; i < tail; i++) pairs.push([oneEnd + i, otherEnd + i]);
  return { ...lines(pairs, one.length, other.length), windowed };
}

const DIAGONAL = 1;
const UP = 2;

function subsequence(
  one: ArrayLike<number>,
  from: number,
  to: number,
  other: ArrayLike<number>,
  otherFrom: number,
  otherTo: number,
): [number, number][] {
  const rows = to - from;
  const width = otherTo - otherFrom;
  const moves = new Uint8Array(rows * width);
  let above = new Uint16Array(width + 1);
  let here = new Uint16Array(width + 1);
  // From the end, so that the walk below goes forwards and prefers the earliest partners.
  for (let i = rows - 1; i >= 0; i--) {
    here[width] = 0;
    const value = one[from + i];
    for (let j = width - 1; j >= 0; j--) {
      const down = above[j]!;
      const right = here[j + 1]!;
      if (value === other[otherFrom + j]) {
        here[j] = above[j + 1]! + 1;
        moves[i * width + j] = DIAGONAL;
      } else if (down >= right) {
        here[j] = down;
        moves[i * width + j] = UP;
      } else {
        here[j] = right;
      }
    }
    [above, here] = [here, above];
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < rows && j < width; ) {
    const move = moves[i * width + j]!;
    if (move === DIAGONAL) pairs.push([from + i++, otherFrom + j++]);
    else if (move === UP) i++;
    else j++;
  }
  return pairs;
}

function lines(pairs: [number, number][], count: number, otherCount: number): Omit<Aligned, "windowed"> {
  const length = count + otherCount - pairs.length;
  const left = new Int32Array(length).fill(-1);
  const right = new Int32Array(length).fill(-1);
  let line = 0;
  let [i, j] = [0, 0];
  const fill = (one: number, other: number) => {
    while (i < one) left[line++] = i++;
    while (j < other) right[line++] = j++;
  };
  for (const [one, other] of pairs) {
    fill(one, other);
    left[line] = i++;
    right[line++] = j++;
  }
  fill(count, otherCount);
  return { left, right };
}

/** The first line where only one side has something, or -1. */
export function firstDivergence({ left, right }: Pick<Aligned, "left" | "right">): number {
  for (let line = 0; line < left.length; line++) if (left[line] === -1 || right[line] === -1) return line;
  return -1;
}

/** What is known of a line: nothing, that it differs, or that its payloads are equal. */
export const DIFFERS = 1;
export const EQUAL = 2;

/** `DIFFERS` for each line where only one side has something, or where the summaries differ; 0 for others. */
export function textDifferences(
  { left, right }: Pick<Aligned, "left" | "right">,
  one: readonly string[],
  other: readonly string[],
): Uint8Array {
  return Uint8Array.from(left, (i, line) =>
    i < 0 || right[line]! < 0 || one[i] !== other[right[line]!] ? DIFFERS : 0,
  );
}
