import assert from "node:assert/strict";
import { test } from "node:test";
import { align, firstDivergence, textDifferences } from "./align";
import { diffPayloads, samePayloads } from "./payload-diff";

const codes = (text: string) => Int32Array.from(text, (letter) => letter.charCodeAt(0));
const shown = (one: string, other: string, window?: number) => {
  const { left, right } = align(codes(one), codes(other), window);
  return [[...left].map((i) => one[i] ?? "-").join(""), [...right].map((i) => other[i] ?? "-").join("")];
};
const common = (one: string, other: string, window?: number) => {
  const { left, right } = align(codes(one), codes(other), window);
  return left.filter((i, line) => i >= 0 && right[line]! >= 0).length;
};

/** The length of the longest common subsequence, by the definition. */
function longest(one: string, other: string): number {
  const table = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let i = 1; i <= one.length; i++)
    for (let j = 1; j <= other.length; j++) {
      table[i]![j] =
        one[i - 1] === other[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!);
    }
  return table[one.length]![other.length]!;
}

test("equal sequences have no divergence, others a first one", () => {
  assert.equal(firstDivergence(align(codes("abc"), codes("abc"))), -1);
  assert.equal(firstDivergence(align(codes("abcd"), codes("abxd"))), 2);
  assert.equal(firstDivergence(align(codes("ab"), codes("abc"))), 2);
  assert.equal(firstDivergence(align(codes(""), codes(""))), -1);
});

test("each element appears once, in order, and equals its partner", () => {
  assert.deepEqual(shown("abcdef", "abxdf"), ["abc-def", "ab-xd-f"]);
  let state = 5;
  const letter = () => "abcd"[(state = (state * 1103515245 + 12345) % 2147483648) % 4]!;
  for (let round = 0; round < 60; round++) {
    const one = Array.from({ length: 5 + (round % 30) }, letter).join("");
    const other = Array.from({ length: 3 + ((round * 7) % 30) }, letter).join("");
    const [left, right] = shown(one, other) as [string, string];
    assert.equal(left.replaceAll("-", ""), one);
    assert.equal(right.replaceAll("-", ""), other);
    assert.ok([...left].every((each, line) => each === "-" || right[line] === "-" || each === right[line]));
    assert.equal(common(one, other), longest(one, other), `${one} ${other}`);
  }
});

test("long sequences are aligned in windows and lose nothing", () => {
  const one = "abcdefghij".repeat(40);
  const other = `x${one.slice(0, 200)}yyyyy${one.slice(203)}z`;
  const [left, right] = shown(one, other, 50) as [string, string];
  assert.equal(left.replaceAll("-", ""), one);
  assert.equal(right.replaceAll("-", ""), other);
  assert.ok(common(one, other, 50) >= 390);
  assert.ok(align(codes(one), codes(other), 50).windowed);
  assert.ok(!align(codes("abc".repeat(40)), codes("abc".repeat(40)), 50).windowed);
});

test("5,000 rows against 5,000 others take a few seconds at most", () => {
  const one = Int32Array.from({ length: 5000 }, (_, n) => (n * 31) % 97);
  const other = Int32Array.from({ length: 5000 }, (_, n) => (n * 17) % 89);
  const start = performance.now();
  align(one, other);
  assert.ok(performance.now() - start < 5000, `${performance.now() - start} ms`);
});

test("payloads differ by lines, envelope and commas aside", () => {
  const lines = diffPayloads(
    { session_id: "a", tool: "x", input: { n: 1 } },
    { session_id: "b", tool: "x", input: { n: 2 }, more: true },
  );
  assert.deepEqual(
    lines.filter((line) => line.side !== "same"),
    [
      { side: "left", text: '    "n": 1' },
      { side: "right", text: '    "n": 2' },
      { side: "right", text: '  "more": true' },
    ],
  );
  assert.ok(diffPayloads({ a: 1 }, { a: 1 }).every((line) => line.side === "same"));
  assert.deepEqual(diffPayloads(undefined, 5), [{ side: "right", text: "5" }]);
});

test("lines differ by their summaries, and payloads by more than their envelope", () => {
  const lines = { left: Int32Array.from([0, 1, -1, 2]), right: Int32Array.from([0, 1, 2, -1]) };
  assert.deepEqual([...textDifferences(lines, ["a", "b", "c"], ["a", "x", "c"])], [0, 1, 1, 1]);
  assert.ok(samePayloads({ session_id: "a", n: 1 }, { session_id: "b", n: 1 }));
  assert.ok(!samePayloads({ session_id: "a", n: 1 }, { session_id: "a", n: 2 }));
});
