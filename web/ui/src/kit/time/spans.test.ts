import assert from "node:assert/strict";
import { test } from "node:test";
import { spanOf, spans, spanText } from "./spans";

test("a span is written in the largest unit that fits", () => {
  assert.deepEqual(spans(30, 60, 5400, 3600, 86_400, 604_800), ["30 s", "1 m", "90 m", "1 h", "1 d", "7 d"]);
});

test("spans are read as people write them", () => {
  const written: Record<string, number> = {
    "15 m": 900,
    "1h": 3600,
    "2 days": 172_800,
    "90 minutes": 5400,
    "3600": 3600,
    "1.5 h": 5400,
  };
  for (const [text, seconds] of Object.entries(written)) assert.equal(spanOf(text), seconds);
  for (const text of ["", "soon", "-1 h", "1 month", "0.1 s"]) assert.equal(spanOf(text), null);
});

test("what is written is read back", () => {
  for (const seconds of [1, 59, 60, 3599, 3600, 86_400, 7_776_000]) assert.equal(spanOf(spanText(seconds)), seconds);
});
