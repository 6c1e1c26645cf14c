import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, compact, decimal, duration, exact, middle, percent, plural } from "./formats";

test("counts are short, and their exact value is one function away", () => {
  assert.deepEqual([28, 999, 1000, 9581, 125_649, 999_949, 999_950, 7_012_345].map(compact), [
    "28",
    "999",
    "1.0k",
    "9.6k",
    "125.6k",
    "999.9k",
    "1.0M",
    "7.0M",
  ]);
  assert.deepEqual([0, 999, 1000, 13_007, 1_234_567, -4321, 0.5, 1e21].map(exact), [
    "0",
    "999",
    "1,000",
    "13,007",
    "1,234,567",
    "-4,321",
    "0.5",
    "1e+21",
  ]);
  assert.equal(decimal(1234.5), "1,235");
});

test("durations carry their units", () => {
  assert.deepEqual([0, 2, 565, 999.6, 41_900, 59_960, 76_000, 174_000, 3_900_000, 93_600_000].map(duration), [
    "0 ms",
    "2 ms",
    "565 ms",
    "1.0 s",
    "41.9 s",
    "1 m 00 s",
    "1 m 16 s",
    "2 m 54 s",
    "1 h 05 m",
    "1 d 02 h",
  ]);
});

test("shares and sizes", () => {
  assert.deepEqual([0, 0.0112, 0.225, 1].map(percent), ["0 %", "1.1 %", "22.5 %", "100 %"]);
  assert.deepEqual([512, 2048, 3_000_000].map(bytes), ["512 B", "2.0 kB", "3.0 MB"]);
});

test("long ids keep both ends", () => {
  assert.equal(middle("short"), "short");
  const cut = middle("0123456789abcdefghijklmnopqrstuvwxyz", 11);
  assert.equal(cut, "01234…vwxyz");
});

test("one is singular", () => {
  assert.deepEqual([plural(1, "session"), plural(1200, "session")], ["1 session", "1,200 sessions"]);
});
